"""New rows are read as the table was that the network was learned from."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.examples import examples

import bayesmend as bm
from bayesmend.data import MISSING
from bayesmend.errors import DataError, ParameterError


def people(n=150, seed=1):
    """Ages, incomes and a word, with missing cells."""
    generator = np.random.default_rng(seed)
    age = generator.integers(18, 80, n)
    income = (age * 1.5 + generator.normal(0, 3, n)).round(1)
    frame = pd.DataFrame(
        {
            "who": [f"p{k}" for k in range(n)],
            "age": pd.array(age, dtype="Int64"),
            "income": income,
            "old": np.where(age > 45, "yes", "no"),
        }
    )
    frame.loc[generator.random(n) < 0.2, "age"] = pd.NA
    frame.loc[generator.random(n) < 0.2, "income"] = np.nan
    frame.loc[generator.random(n) < 0.1, "old"] = None
    return frame


CUT = {
    "discretize": {"age": 3, "income": 4},
    "columns": {"who": "pass-through"},
}


@pytest.fixture(scope="module")
def learned():
    return bm.learn_em(people(), seed=1, **CUT)


def observed(frame):
    return frame.notna().to_numpy()


def test_learning_gives_numbers_back(learned):
    frame = people()
    full = learned.completed.to_table()
    assert full.columns.tolist() == frame.columns.tolist()
    assert (full.dtypes == frame.dtypes).all()
    pd.testing.assert_frame_equal(full.where(frame.notna()), frame)
    seen = observed(frame[["age", "income", "old"]]).any(axis=1)
    assert full[seen].notna().all(axis=None)
    # Each filled number is the median of an interval.
    rule = learned.network.schema.discretization
    for name in ("age", "income"):
        filled = full.loc[frame[name].isna() & seen, name]
        assert set(filled) <= set(rule.numbers_of(name).medians)


@pytest.mark.parametrize("suffix", [".json", ".bif", ".xmlbif", ".graphml"])
def test_a_network_from_a_file_fills_the_same(learned, tmp_path, suffix):
    path = tmp_path / f"net{suffix}"
    bm.write_network(learned.network, path)
    rows = people(40, seed=2)
    expected = bm.impute(learned.network, rows).to_table()
    found = bm.impute(bm.read_network(path), rows).to_table()
    pd.testing.assert_frame_equal(found, expected)
    pd.testing.assert_frame_equal(found.where(rows.notna()), rows)
    drawn = bm.impute(bm.read_network(path), rows, method="draw", seed=3)
    again = bm.impute(learned.network, rows, method="draw", seed=3)
    pd.testing.assert_frame_equal(drawn.to_table(), again.to_table())


def test_every_kind_of_table_gets_the_same_numbers(learned, tmp_path):
    rows = people(30, seed=5).dropna(how="all", subset=["age", "income", "old"])
    rows = rows.reset_index(drop=True)
    expected = bm.impute(learned.network, rows).to_table()
    path, out = tmp_path / "rows.csv", tmp_path / "full.csv"
    rows.to_csv(path, index=False)
    by_file = bm.impute(learned.network, path)
    assert by_file.to_table()["age"].tolist() == expected["age"].tolist()
    by_file.write_csv(out)
    pd.testing.assert_frame_equal(
        pd.read_csv(out, dtype={"age": "Int64"}), pd.DataFrame(expected)
    )
    polars = bm.impute(learned.network, pl.from_pandas(rows)).to_table()
    assert polars["income"].to_list() == expected["income"].tolist()
    assert polars["age"].dtype == pl.Int64
    mapping = {name: rows[name].astype(object).tolist() for name in rows}
    lists = bm.impute(learned.network, mapping).to_table()
    assert lists["age"] == expected["age"].tolist()


def test_draws_are_observed_numbers_and_the_same_for_a_seed(learned):
    frame = people()
    found = bm.impute(learned.network, frame, method="draw", n_draws=2, seed=4)
    again = bm.impute(learned.network, frame, method="draw", n_draws=2, seed=4)
    one, two = found.to_table(0), found.to_table(1)
    pd.testing.assert_frame_equal(one, again.to_table(0))
    pd.testing.assert_frame_equal(one, found.to_table(0))
    filled = frame["age"].isna()
    assert set(one.loc[filled, "age"]) <= set(frame["age"].dropna())
    assert one.loc[filled, "age"].nunique() > 3
    assert one.loc[filled, "age"].tolist() != two.loc[filled, "age"].tolist()
    codes = learned.network.schema.discretization.codes
    numbers = one["age"].to_numpy(dtype=float)
    column = found.tables[0].index("age")
    is_full = ~np.isnan(numbers)
    assert codes("age", numbers)[is_full].tolist() == (
        found.tables[0].codes[is_full, column].tolist()
    )


def test_intervals_are_given_and_taken(learned):
    rows = people(20, seed=6)
    full = bm.impute(learned.network, rows, fill="interval").to_table()
    labels = learned.network.schema.discretization.labels("age")
    assert set(full["age"].dropna()) <= set(labels)
    # Rows that hold intervals already are taken as they are.
    again = bm.impute(learned.network, full.astype(object)).to_table()
    assert again["age"].tolist() == full["age"].tolist()
    evidence = bm.log_evidence(learned.network, rows)
    as_labels = rows.assign(
        age=[
            None if pd.isna(x) else learned.network.schema.interval_of("age", x)
            for x in rows["age"]
        ]
    )
    np.testing.assert_allclose(bm.log_evidence(learned.network, as_labels), evidence)


@pytest.mark.parametrize("kind", ["frame", "file"])
def test_rows_that_were_read_by_themselves_are_cut_again(learned, tmp_path, kind):
    rows = people(60, seed=8)
    table = rows
    if kind == "file":
        table = tmp_path / "rows.csv"
        rows.to_csv(table, index=False)
    data = bm.IncompleteData.from_table(
        table, discretize={"age": 2, "income": 2}, columns={"who": "pass-through"}
    )
    expected = bm.impute(learned.network, table).to_table()
    found = bm.impute(learned.network, data).to_table()
    pd.testing.assert_frame_equal(found, expected)
    hidden = bm.hide_mcar(data, 0.3, seed=1).data
    full = bm.impute(learned.network, hidden, fill_empty_rows=True)
    assert full.completed.is_complete
    assert len(full.cells) == hidden.n_missing


def test_a_variable_that_the_table_lacks_is_filled_with_numbers(learned):
    rows = people(20, seed=7)[["age", "old"]].dropna()
    full = bm.impute(learned.network, rows, allow_absent=True).to_table()
    medians = learned.network.schema.discretization.numbers_of("income").medians
    assert set(full["income"]) <= set(medians)


def test_dates_are_filled_with_dates():
    day = datetime.date(2020, 1, 1)
    days = [day + datetime.timedelta(days=k) for k in range(60)]
    frame = pl.DataFrame({"when": days, "late": ["no"] * 30 + ["yes"] * 30})
    holed = frame.with_columns(
        when=pl.when(pl.int_range(60) % 7 == 3).then(None).otherwise(pl.col("when"))
    )
    result = bm.learn(holed, discretize={"when": 2}, seed=1)
    full = result.completed.to_table()
    assert full["when"].dtype == pl.Date
    assert full["when"].null_count() == 0
    assert full.filter(holed["when"].is_not_null())["when"].to_list() == [
        when for when in holed["when"] if when is not None
    ]
    filled = full.filter(holed["when"].is_null())
    middle = day + datetime.timedelta(days=30)
    assert ((filled["when"] >= middle) == (filled["late"] == "yes")).all()
    answer = bm.query(result.network, "late", given={"when": "2020-01-05"})
    assert answer.distributions["late"]["no"] > 0.8
    new = pl.DataFrame({"when": [day, None], "late": [None, "yes"]})
    assert bm.impute(result.network, new).to_table()["late"].to_list() == ["no", "yes"]


def test_tables_of_numbers_are_compared_by_intervals():
    frame = people(80, seed=9)
    data = bm.IncompleteData.from_table(frame, **CUT)
    hidden = bm.hide_mcar(data, 0.2, seed=1)
    full = bm.learn(hidden.data, seed=1, fill_empty_rows=True).completed
    assert hidden.accuracy(full.to_table()) == hidden.accuracy(full)
    assert hidden.accuracy(frame) == 1
    told = bm.data.compare_mended(hidden.data, full.to_table())
    assert told.to_dict() == bm.data.compare_mended(hidden.data, full).to_dict()


def test_the_likelihood_of_complete_rows_takes_numbers(learned):
    rows = people(50, seed=10).dropna()
    network = learned.network
    likelihood = network.log_likelihood(rows)
    np.testing.assert_allclose(likelihood, bm.log_evidence(network, rows))
    one = rows.iloc[:1]
    np.testing.assert_allclose(network.log_likelihood(one), likelihood[:1])


# Labels that the network does not know.


def rain():
    return bm.Network(
        bm.Dag.from_arcs(["rain", "wet"], [("rain", "wet")]),
        (("no", "yes"), ("dry", "wet")),
        ([[0.6, 0.4]], [[0.9, 0.1], [0.2, 0.8]]),
    )


ODD = {
    "rain": ["no", "maybe", None, "maybe"],
    "wet": [None, "wet", "wet", None],
}


@pytest.mark.parametrize(
    "make",
    [
        lambda t: t,
        pd.DataFrame,
        pl.DataFrame,
        lambda t: bm.IncompleteData.from_table(t, columns={"wet": "model"}),
    ],
    ids=["mapping", "pandas", "polars", "read"],
)
def test_unknown_labels_are_missing_when_asked_and_come_back(make):
    with pytest.raises(DataError, match="has no state 'maybe'"):
        bm.impute(rain(), make(ODD))
    found = bm.impute(rain(), make(ODD), unknown="missing")
    assert found.unknown == {"rain": 2}
    assert found.to_dict()["unknown"] == {"rain": 2}
    full = found.to_table()
    assert list(full["rain"]) == ["no", "maybe", "yes", "maybe"]
    assert list(full["wet"])[:3] == ["dry", "wet", "wet"]
    assert {(c.row, c.variable) for c in found.cells} >= {(0, "wet"), (2, "rain")}
    assert not any(c.variable == "rain" and c.row in (1, 3) for c in found.cells)
    evidence = bm.log_evidence(rain(), make(ODD), unknown="missing")
    known = {"rain": ["no", None, None, None], "wet": ODD["wet"]}
    np.testing.assert_allclose(evidence, bm.log_evidence(rain(), known))


def test_unknown_labels_of_a_file_are_written_as_they_are(tmp_path):
    path, out = tmp_path / "t.csv", tmp_path / "out.csv"
    path.write_text("rain,wet\nno,\n Maybe,wet\n")
    found = bm.impute(rain(), path, unknown="missing", header=True)
    found.write_csv(out)
    assert out.read_text() == "rain,wet\nno,dry\n Maybe,wet\n"
    with pytest.raises(ParameterError, match="unknown must be one of error, missing"):
        bm.impute(rain(), ODD, unknown="ignore")


def test_labels_are_normalised_as_those_of_the_training_data():
    table = {
        "a": ["Yes", "yes", "yes", "no", None] * 4,
        "b": ["u", "u", "u", "v", "u"] * 4,
    }
    network = bm.learn(table, normalise=True, seed=1).network
    assert network.states[0] == ("no", "yes")
    new = {"a": ["YES", None], "b": [None, "v"]}
    full = bm.impute(network, new).to_table()
    assert full == {"a": ["YES", "no"], "b": ["u", "v"]}


# Rows in which nothing is observed.


@examples(20)
@given(st.lists(st.booleans(), min_size=3, max_size=12), st.booleans())
def test_rows_without_any_cell_stay_missing_unless_asked(empty, fill):
    table = {
        "rain": [None if e else "yes" for e in empty],
        "wet": [None] * len(empty),
    }
    found = bm.impute(rain(), table, fill_empty_rows=fill)
    assert found.n_empty_rows == sum(empty)
    assert found.to_dict()["n_empty_rows"] == sum(empty)
    left = [not fill and e for e in empty]
    assert [state is None for state in found.to_table()["wet"]] == left
    assert found.completed.n_missing == 2 * sum(left)
    assert {cell.row for cell in found.cells} == {
        row for row, was_left in enumerate(left) if not was_left
    }


@pytest.mark.parametrize("method", ["auto", "exact", "local", "em", "em-hard"])
def test_learning_leaves_empty_rows_missing_unless_asked(method):
    table = {
        "a": ["x", "y", None, "x", "y", "x", "y", None] * 3,
        "b": ["u", "v", None, "u", "v", "u", None, "u"] * 3,
    }
    left = bm.learn(table, method=method, seed=1)
    filled = bm.learn(table, method=method, seed=1, fill_empty_rows=True)
    assert left.n_empty_rows == filled.n_empty_rows == 3
    assert left.to_dict()["n_empty_rows"] == 3
    assert filled.completed.is_complete
    is_left = left.completed.codes == MISSING
    assert np.flatnonzero(is_left.all(axis=1)).tolist() == [2, 10, 18]
    assert is_left.sum() == 6
    assert len(filled.cells) == len(left.cells) + 6
    assert not set(left.cells.rows.tolist()) & {2, 10, 18}
    assert left.score == pytest.approx(filled.score)
    assert left.network == filled.network
    bm.report.render_report(left)
    assert left.mended is not None


# What the message of an unknown label says, and which markers are remembered.


def waves():
    return {"wave": ["2019", "2021"] * 30, "job": ["a", "b"] * 30}


def test_an_unknown_label_names_the_option_that_takes_it_as_missing():
    network = bm.learn_em(waves(), seed=1).network
    new = {"wave": ["2023"], "job": [None]}
    message = (
        r"variable 'wave' has no state '2023' in row 0\. Its states: 2019, 2021\."
        r" Correct it, or pass unknown='missing'\."
    )
    with pytest.raises(DataError, match=message):
        bm.impute(network, new)
    states = {"wave": ["2023"], "job": ["a", "b"]}
    data = bm.IncompleteData.from_table(new, states=states)
    with pytest.raises(DataError, match=message):
        bm.most_probable(network, data)
    # Without that option the message does not name it.
    full = {"wave": ["2023", "2023"], "job": ["a", "b"]}
    columns = {"wave": "model", "job": "model"}
    with pytest.raises(DataError, match=r"Its states: 2019, 2021\.$"):
        network.log_likelihood(full, columns=columns)
    with pytest.raises(DataError, match=r"Its states: 2019, 2021\.$"):
        bm.query(network, "job", given={"wave": "2023"})


@pytest.mark.parametrize("suffix", [None, "json", "bif", "xmlbif", "graphml"])
def test_the_network_remembers_missing_markers(tmp_path, suffix):
    table = waves()
    table["job"] = ["a", "b", "-9"] * 20
    network = bm.learn_em(table, missing=["-9"], seed=1).network
    assert network.schema.missing == ("-9",)
    if suffix is not None:
        path = tmp_path / f"network.{suffix}"
        bm.write_network(network, path)
        network = bm.read_network(path)
        assert network.schema.missing == ("-9",)
    new = {"wave": ["2019", "2021"], "job": ["-9", "b"]}
    assert len(bm.impute(network, new).cells) == 1
    # The caller goes first.
    with pytest.raises(DataError, match="has no state '-9'"):
        bm.impute(network, new, missing=["x"])
    # In a file the usual ones count, too.
    (tmp_path / "new.csv").write_text("wave,job\n2019,-9\n2021,\n2021,a\n")
    assert len(bm.impute(network, tmp_path / "new.csv").cells) == 2


def test_a_usual_marker_that_is_a_state_stays_one(tmp_path):
    rows = "".join(f"{w},{j}\n" for w, j in [("x", "NA"), ("y", "b"), ("y", "-")] * 20)
    (tmp_path / "old.csv").write_text("wave,job\n" + rows)
    network = bm.learn_em(tmp_path / "old.csv", missing=["-"], seed=1).network
    assert network.states[1] == ("NA", "b")
    (tmp_path / "new.csv").write_text("wave,job\nx,NA\ny,-\ny,?\n")
    found = bm.impute(network, tmp_path / "new.csv")
    assert found.cells.rows.tolist() == [1, 2]


def test_a_result_shows_how_many_rows_are_empty():
    table = waves()
    full = bm.learn_em(table, seed=1)
    assert "n_empty_rows" not in repr(full)
    assert "n_empty_rows" not in repr(bm.impute(full.network, table))
    table = {name: [*cells, None, None] for name, cells in table.items()}
    found = bm.learn(table, seed=1)
    assert "n_mended=0, n_empty_rows=2, method=" in repr(found)
    filled = bm.impute(found.network, table)
    assert repr(filled) == "Imputation(mpe, 0 cells, n_empty_rows=2)"


# Text among the numbers of a variable that is cut.


def sizes():
    numbers = [20 + 37 * i % 61 for i in range(60)]
    table = {"age": numbers, "old": ["yes" if n > 50 else "no" for n in numbers]}
    return bm.learn_em(table, discretize={"age": 3}, seed=1).network


MIXED = {"age": ["25", "about 40", None, "70"], "old": [None, "no", "yes", None]}


@pytest.mark.parametrize(
    "make",
    [lambda t: t, pd.DataFrame, pl.DataFrame],
    ids=["mapping", "pandas", "polars"],
)
def test_text_among_numbers_is_an_unknown_label(make):
    network = sizes()
    message = r"'age' has no state 'about 40' in row 1\. Its states: .* Correct it, or"
    with pytest.raises(DataError, match=message):
        bm.impute(network, make(MIXED))
    found = bm.impute(network, make(MIXED), unknown="missing")
    assert found.unknown == {"age": 1}
    full = found.to_table()
    assert list(full["age"])[:2] == ["25", "about 40"]
    assert list(full["age"])[3] == "70"
    assert int(list(full["age"])[2]) > 40
    assert list(full["old"]) == ["no", "no", "yes", "yes"]
    known = MIXED | {"age": ["25", None, None, "70"]}
    evidence = bm.log_evidence(network, make(MIXED), unknown="missing")
    np.testing.assert_allclose(evidence, bm.log_evidence(network, known))


def test_text_among_the_numbers_of_a_file_is_written_as_it_is(tmp_path):
    path, out = tmp_path / "t.csv", tmp_path / "out.tsv"
    path.write_text("age;old\n25,0;\nabout 40;no\n;yes\n70,5;\n")
    with pytest.raises(DataError, match="'age' has no state 'about 40' in line 3"):
        bm.impute(sizes(), path, decimal=",")
    found = bm.impute(sizes(), path, decimal=",", unknown="missing")
    found.write_csv(out)
    age = [line.split("\t")[0] for line in out.read_text().splitlines()]
    assert (age[1], age[2], age[4]) == ("25,0", "about 40", "70,5")
    assert float(age[3].replace(",", ".")) > 40


def test_mixed_types_and_objects_among_numbers():
    mixed = {"age": [25, "about 40", 70.0], "old": [None, "no", None]}
    found = bm.impute(sizes(), mixed, unknown="missing")
    assert found.to_table() == mixed | {"old": ["no", "no", "yes"]}
    with pytest.raises(DataError, match="age"):
        bm.impute(sizes(), mixed | {"age": [25, [1], 30]}, unknown="missing")


def test_text_among_dates_is_an_unknown_label():
    days = [f"2020-{1 + i % 12:02}-{1 + i % 28:02}" for i in range(60)]
    table = {"day": days, "half": ["1" if d < "2020-07" else "2" for d in days]}
    network = bm.learn_em(table, discretize={"day": 2}, seed=1).network
    new = {"day": ["2020-02-03", "soon"], "half": [None, "1"]}
    found = bm.impute(network, new, unknown="missing")
    assert found.to_table() == new | {"half": ["1", "1"]}
    with pytest.raises(DataError, match="'day' has no state 'soon' in row 1"):
        bm.impute(network, new)


def test_cut_points_for_new_rows_may_be_an_array():
    table = {"age": list(range(20, 80)), "s": ["a", "b"] * 30}
    network = bm.learn(table, seed=1, discretize={"age": [40, 60]}).network
    rows = {"age": [25, None, 70], "s": ["a", "b", None]}
    found, expected = (
        bm.impute(network, rows, discretize={"age": points}).to_table()
        for points in (np.array([40.0, 60.0]), [40, 60])
    )
    assert found == expected
