"""The description of a table."""

import json

import numpy as np
import pytest
from hypothesis import given
from support import oracle, strategies

from bayesmend.data.table import IncompleteData
from bayesmend.errors import ReadingWarning


def summary_of(codes, card, weights=None):
    return IncompleteData.from_codes(
        codes,
        names=strategies.names_of(card),
        states=strategies.labels_of(card),
        weights=weights,
    ).summary()


@given(strategies.coded_tables())
def test_numbers_match_the_twin(table):
    codes, card = table
    summary = summary_of(codes, card)
    counts, together = oracle.describe(codes.tolist(), len(card))
    for j, variable in enumerate(summary.variables):
        assert list(variable.counts) == [counts[j].get(k, 0) for k in range(card[j])]
        assert variable.n_missing == counts[j].get(255, 0)
        assert variable.missing_share * len(codes) == variable.n_missing
        seen = {k: n for k, n in counts[j].items() if k != 255}
        best = max(seen, key=lambda k, n=seen: (n[k], -k)) if seen else None
        expected = None if best is None else f"s{best}"
        assert variable.most_frequent == expected
    found = {
        tuple(int(name[1:]) for name in them.missing): them.n_rows
        for them in summary.missing_together
    }
    assert found == together
    assert summary.n_complete_rows == together.get((), 0)
    assert summary.n_distinct_rows == len(set(map(tuple, codes.tolist())))
    assert summary.n_missing == int((codes == 255).sum())


@given(strategies.coded_tables())
def test_sets_missing_together_come_by_falling_frequency(table):
    counts = [them.n_rows for them in summary_of(*table).missing_together]
    assert counts == sorted(counts, reverse=True)


@given(strategies.coded_tables())
def test_text_and_dict_can_always_be_made(table):
    summary = summary_of(*table)
    assert str(summary).count("\n") >= len(summary.variables)
    assert json.loads(json.dumps(summary.to_dict())) == summary.to_dict()


def test_the_text_of_a_small_table():
    table = {
        "smoke": ["yes", None, "no", "no"],
        "cough": [1, 1, 0, 1],
        "note": ["a", "b", "c", "d"],
    }
    text = str(IncompleteData.from_table(table, weights=[1, 2, 3, 0.5]).summary())
    assert text == (
        "4 rows, 3 variables, 1 of 12 cells missing (8%)\n"
        "3 complete rows, 4 distinct rows\n"
        "total weight 6.5\n"
        "\n"
        "variable  missing  most frequent  states\n"
        "smoke         25%  no (67%)       no, yes\n"
        "cough          0%  1 (75%)        0, 1\n"
        "note           0%  a (25%)        a, b, c, d\n"
        "\n"
        "rows  missing together\n"
        "   3  (none)\n"
        "   1  smoke"
    )


def test_a_complete_table_has_no_list_of_what_is_missing_together():
    text = str(IncompleteData.from_table({"a": ["x", "y"]}).summary())
    assert text.startswith("2 rows, 1 variable, 0 of 2 cells missing (0%)\n")
    assert "together" not in text


def test_long_lists_are_cut_short():
    codes = np.zeros((40, 12), dtype=np.uint8)
    for row in range(12):
        codes[row, : row + 1] = 255
    states = [tuple(f"s{k}" for k in range(20))] * 12
    names = [f"v{j}" for j in range(12)]
    data = IncompleteData.from_codes(codes, names=names, states=states)
    text = str(data.summary())
    assert "s0, s1, s2, s3, s4, s5, ... (20 in all)" in text
    assert "v0, v1, v2, v3, v4, v5, v6, v7, ... (9 in all)" in text
    assert "   3  in 3 other sets" in text
    few = data.with_codes(np.where(np.arange(40)[:, None] > 9, 0, codes))
    assert "   1  in 1 other set\n" in f"{few.summary()}\n"


def test_shares_are_never_rounded_to_nothing_or_to_all():
    codes = np.zeros((1000, 1), dtype=np.uint8)
    codes[0] = 255
    assert "(<1%)" in str(summary_of(codes, [1]))
    codes[1:] = 255
    codes[0] = 0
    assert "(>99%)" in str(summary_of(codes, [1]))


def test_a_variable_without_observed_cells_has_no_most_frequent_state():
    summary = summary_of(np.full((2, 1), 255, np.uint8), [2])
    assert summary.variables[0].most_frequent is None
    assert "100%  -" in str(summary)
    assert repr(summary) == "Summary(2 rows, 1 variable)"


def test_markers_of_a_file_are_counted(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\nx,?\n?,u\nNA,v\n,u\ny,u\n")
    with pytest.warns(ReadingWarning, match="'NA' in a"):
        data = IncompleteData.from_table(path)
    assert data.summary().to_dict()["missing_markers"] == {"": 1, "?": 2, "NA": 1}
    lines = str(data.summary()).splitlines()
    assert lines[2] == "missing markers: ? (2), empty (1), NA (1)"
    filled = data.with_codes(np.zeros_like(data.codes))
    assert filled.summary().missing_markers == ()
    summary = IncompleteData.from_table({"a": ["x", None, "y"]}).summary()
    assert summary.missing_markers == ()


def test_what_columns_are_taken_for_is_told():
    rng = np.random.default_rng(1)
    table = {
        "id": list(range(40)),
        "age": rng.normal(size=40).tolist(),
        "same": ["x"] * 40,
        "old": ["x", "y"] * 20,
        "n": [1, 2] * 20,
        "sick": ["no", "yes"] * 20,
    }
    options = {"columns": {"old": "drop"}, "weights": "n"}
    with pytest.warns(ReadingWarning):
        summary = IncompleteData.from_table(table, **options).summary()
    assert (
        "cut into intervals: age (2)\n"
        "passed through: id (identifier); same (constant)\n"
        "dropped: old\n"
        "row weights: n\n"
    ) in f"{summary}\n"
    roles = {c["name"]: (c["role"], c["reason"]) for c in summary.to_dict()["columns"]}
    assert roles == {
        "id": ("pass-through", "identifier"),
        "age": ("cut", ""),
        "same": ("pass-through", "constant"),
        "old": ("drop", ""),
        "n": ("weights", ""),
        "sick": ("model", ""),
    }


def test_labels_with_blanks_around_them_are_quoted():
    table = {"a": [" y", " y", "x", ""], "b": [1, 2, 1, 1]}
    text = str(IncompleteData.from_table(table, missing=()).summary())
    assert "' y' (50%)     '', ' y', x\n" in text
    assert "1 (75%)        1, 2" in text
