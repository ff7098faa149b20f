"""Observed cells against mended ones."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import oracle
from support.strategies import MISSING

import bayesmend as bm
from bayesmend.data.mended import compare_mended, show_shares
from bayesmend.errors import DataError


def tables(draw_seed, n_rows=60):
    rng = np.random.default_rng(draw_seed)
    card = rng.integers(2, 4, 4)
    codes = np.column_stack([rng.integers(r, size=n_rows) for r in card]).astype(
        np.uint8
    )
    if rng.random() < 0.5:
        codes[:, 1] = np.minimum(codes[:, 0], card[1] - 1)
    hidden = codes.copy()
    hidden[rng.random(codes.shape) < 0.15] = MISSING
    if rng.random() < 0.7:
        hidden[codes[:, 0] == 0, 2] = MISSING
    filled = np.where(hidden == MISSING, rng.integers(0, card, codes.shape), hidden)
    return hidden, filled.astype(np.uint8), card.tolist()


def as_data(codes, card):
    return bm.IncompleteData.from_codes(
        np.asfortranarray(codes),
        names=[f"v{k}" for k in range(len(card))],
        states=[tuple(range(r)) for r in card],
    )


def predictor_of(rows, card, v):
    """The variable whose states tell most about whether a cell is missing."""
    best, most = None, 0.0
    for u in range(len(card)):
        seen = [[row[u], row[v] is None] for row in rows if row[u] is not None]
        if u == v or not seen:
            continue
        counts = oracle.family_counts(seen, [card[u], 2], 1, [0])
        told = len(seen) * oracle.information(counts)
        if told > max(math.log(len(seen)) * (card[u] - 1), most + 1e-9):
            best, most = u, told
    return best


@given(st.integers(0, 2**32))
def test_counts_and_predictors_are_those_of_the_slow_twin(seed):
    hidden, filled, card = tables(seed)
    found = {
        v.name: v
        for v in compare_mended(as_data(hidden, card), as_data(filled, card)).variables
    }
    rows = [[None if c == MISSING else c for c in row] for row in hidden.tolist()]
    for v, r in enumerate(card):
        is_missing = [row[v] is None for row in rows]
        if not any(is_missing):
            assert f"v{v}" not in found
            continue
        variable = found[f"v{v}"]
        u = predictor_of(rows, card, v)
        assert variable.predictor == (None if u is None else f"v{u}")
        parts = {None: range(len(rows))}
        if u is not None:
            parts |= {
                k: [i for i in range(len(rows)) if filled[i, u] == k]
                for k in range(card[u])
            }
        for stratum in (variable.total, *variable.strata):
            observed, mended = [0] * r, [0] * r
            for i in parts[stratum.level]:
                (mended if is_missing[i] else observed)[filled[i, v]] += 1
            assert stratum.observed == tuple(observed)
            assert stratum.mended == tuple(mended)
            assert 0 <= stratum.distance <= 1
        assert sum(sum(s.mended) for s in variable.strata) in (0, sum(is_missing))


def block(n_rows=400, fill="carried", seed=0):
    rng = np.random.default_rng(seed)
    wave, race = (
        rng.integers(2, size=n_rows),
        rng.choice(3, n_rows, p=[0.6, 0.25, 0.15]),
    )
    before = np.column_stack([wave, race, race]).astype(np.uint8)
    before[wave == 0, 2] = MISSING
    after = before.copy()
    after[wave == 0, 2] = race[wave == 0] if fill == "carried" else 0
    return as_data(before, [2, 3, 3]), as_data(after, [2, 3, 3])


def test_a_constant_fill_of_a_block_is_an_alarm():
    summary = compare_mended(*block(fill="constant"))
    assert summary.alarms == ("v2",)
    [variable] = summary.variables
    assert variable.predictor == "v0"
    assert [s.level for s in variable.strata] == [0]
    assert variable.strata[0].is_alarm
    assert variable.distance > 0.3
    assert "ALARM: the mended cells of v2 resemble no observed ones" in str(summary)
    assert repr(summary) == "MendedSummary(1 variable, 1 alarm)"


def test_a_block_that_follows_its_rows_is_no_alarm():
    summary = compare_mended(*block())
    assert summary.alarms == ()
    assert "ALARM" not in str(summary)
    assert json.loads(json.dumps(summary.to_dict()))["variables"][0]["name"] == "v2"


def test_most_frequent_states_of_unrelated_cells_are_no_alarm():
    """What a filling of the most probable states always does."""
    rng = np.random.default_rng(1)
    codes = np.column_stack([rng.random((500, 2)) < 0.35]).astype(np.uint8)
    before, after = codes.copy(), codes.copy()
    holes = rng.random(500) < 0.2
    before[holes, 0], after[holes, 0] = MISSING, 0
    assert compare_mended(as_data(before, [2, 2]), as_data(after, [2, 2])).alarms == ()


def test_what_several_variables_say_together_is_no_alarm():
    """Though it often goes against the one that is most related."""
    rng = np.random.default_rng(2)
    n_rows, card = 4000, [12, 4, 4]
    base, noise = rng.integers(4, size=n_rows), rng.integers(0, card, (n_rows, 3))
    codes = np.where(rng.random((n_rows, 3)) < 0.5, base[:, None], noise)
    before = codes.astype(np.uint8)
    after = before.copy()
    holes = rng.random(n_rows) < 0.1
    before[holes, 0], after[holes, 0] = MISSING, base[holes]
    assert compare_mended(as_data(before, card), as_data(after, card)).alarms == ()


def test_few_cells_are_no_alarm():
    codes = block(40, seed=3)[0].codes.copy()
    keep = np.flatnonzero(codes[:, 2] == MISSING)[9:]
    codes[keep, 2] = codes[keep, 1]
    filled = np.where(codes == MISSING, 0, codes).astype(np.uint8)
    assert (
        compare_mended(as_data(codes, [2, 3, 3]), as_data(filled, [2, 3, 3])).alarms
        == ()
    )


def test_cells_that_stay_missing_are_left_out():
    before, after = block()
    half = after.codes.copy()
    half[:200][before.codes[:200] == MISSING] = MISSING
    [variable] = compare_mended(before, as_data(half, [2, 3, 3])).variables
    assert sum(variable.total.mended) == int((before.codes[200:] == MISSING).sum())


def test_a_complete_table_has_nothing_to_compare():
    complete = as_data(np.zeros((3, 2), np.uint8), [2, 2])
    assert str(compare_mended(complete, complete)) == "no mended cells"


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (lambda d: as_data(d.codes[:-1], [2, 3, 3]), "must have the 400 rows"),
        (lambda d: as_data(d.codes, [2, 3, 4]), "must have the variables and states"),
    ],
)
def test_another_table_is_refused(other, message):
    before, after = block()
    with pytest.raises(DataError, match=message):
        compare_mended(before, other(after))


def test_many_states_are_cut_short():
    assert show_shares(tuple("abcdefg"), (1,) * 7).endswith("e 14%, ...")
