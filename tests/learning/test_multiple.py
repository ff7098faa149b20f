"""Multiple imputation against the posterior over all completions."""

import re
from collections import Counter

import numpy as np
import pytest
from support import oracle
from support.strategies import table_of
from support.timing import ctrl_c_after, within

import bayesmend as bm
from bayesmend.errors import ParameterError, ShortfallWarning
from bayesmend.learning.multiple import _draw_distributions


def holed(n_rows=120, rate=0.2, seed=1):
    rows = bm.load_network("asia").sample(n_rows, seed=seed)
    return bm.hide_mcar(rows, rate, seed=seed).data


def quick(data, m=4, **options):
    return bm.impute_multiple(data, m, **{"burn_in": 3, "thin": 2, "seed": 1} | options)


@pytest.mark.slow
def test_completions_are_drawn_as_often_as_they_are_probable():
    rows = [[0, 0], [0, 0], [1, 1], [1, 1], [1, 0], [0, None], [None, 1], [1, None]]
    data = table_of([[255 if x is None else x for x in row] for row in rows], [2, 2])
    m = 4000
    found = bm.impute_multiple(data, m, burn_in=10, thin=1, seed=1)
    shares = oracle.completion_posterior(rows, [2, 2], 1.0, lambda n_parents: 0.0)
    counts = Counter(tuple(map(tuple, table.codes.tolist())) for table in found.tables)
    assert len(shares) == 8
    for table, share in shares.items():
        assert counts[table] / m == pytest.approx(share, abs=0.04)


def test_observed_cells_stay_and_missing_ones_differ_between_tables():
    data = holed()
    found = quick(data)
    seen = ~data.missing_mask
    for table in found.tables:
        assert (table.codes[seen] == data.codes[seen]).all()
        assert table.is_complete
    assert len({table.codes.tobytes() for table in found.tables}) == 4
    assert len(found.networks) == found.m == 4
    assert found.networks[0].cpts[0].tolist() != found.networks[1].cpts[0].tolist()
    assert found.n_missing == data.n_missing
    assert set(found.trace) == {"arcs", *data.names}
    assert found.trace["arcs"].shape == (4, 3)


@pytest.mark.parametrize("method", ["partition", "bootstrap"])
def test_the_same_tables_for_any_number_of_threads(method):
    one, two = (
        quick(holed(), m=5, n_chains=2, method=method, n_threads=n) for n in (1, 3)
    )
    assert one.tables == two.tables
    assert [n.dag for n in one.networks] == [n.dag for n in two.networks]
    assert one.tables != quick(holed(), m=5, n_chains=2, method=method, seed=2).tables


def test_a_frame_comes_back_as_a_frame_with_numbers_in_their_intervals():
    rng = np.random.default_rng(1)
    pandas = pytest.importorskip("pandas")
    size = rng.normal(50, 10, 200).round(1)
    kind = np.where(size + rng.normal(0, 5, 200) > 50, "big", "small")
    frame = pandas.DataFrame({"size": size, "kind": kind}, index=range(10, 210))
    frame.loc[frame.index[::5], "size"] = np.nan
    frame.loc[frame.index[1::7], "kind"] = None
    found = quick(frame, m=2, discretize={"size": 4}, fill_empty_rows=True)
    one, two = found.to_tables()
    assert list(one.columns) == ["size", "kind"]
    assert one.index.equals(frame.index)
    assert one.notna().all().all()
    was = frame["size"].notna()
    assert (one["size"][was] == frame["size"][was]).all()
    assert set(one["size"][~was]) <= set(frame["size"][was])
    assert not one.equals(two)


def test_rows_without_an_observed_cell_stay_empty_unless_they_are_to_be_filled():
    data = holed()
    codes = data.codes.copy()
    codes[7] = 255
    data = data.with_codes(codes)
    assert (quick(data, m=1).tables[0].codes[7] == 255).all()
    assert quick(data, m=1, fill_empty_rows=True).tables[0].is_complete


def test_constraints_hold_in_every_network():
    found = quick(holed(), constraints={"required": [("xray", "smoke")]})
    assert all(("xray", "smoke") in network.dag.arcs for network in found.networks)


def test_estimates_are_pooled_over_the_tables():
    data = holed()
    found = quick(data, m=6)

    def share(table):
        p = np.mean([x == "yes" for x in table["bronc"]])
        return p, p * (1 - p) / 120

    values = [share(table) for table in found.to_tables()]
    expected = bm.pool(*zip(*values, strict=True), df=119)
    pooled = found.estimate(share, df=119)
    assert (pooled.estimate, pooled.se) == (expected.estimate, expected.se)
    assert 0 < pooled.fmi < 1


@pytest.mark.parametrize("found", [0.5, (0.5,), (0.5, 0.1, 120), None, "ab"])
def test_an_analysis_returns_a_pair(found):
    message = re.escape(
        "analyse must return a pair: estimates, and their variances (squared standard "
        f"errors). Got {found!r} instead."
    )
    tables = quick(holed(60), m=2)
    with pytest.raises(ParameterError, match=f"^{message}$"):
        tables.estimate(lambda _: found)


def test_weights_count_rows():
    data = holed(60)
    doubled = bm.IncompleteData.from_codes(
        data.codes, names=data.names, states=data.states, weights=np.full(60, 2.0)
    )
    assert quick(doubled, m=2).tables[0].weights.tolist() == [2.0] * 60


def test_the_chains_are_compared():
    found = quick(holed(60), m=4, n_chains=2, thin=6)
    assert found.r_hat()["arcs"] >= 1.0
    assert found.to_dict()["m"] == 4
    assert repr(found).startswith("MultipleImputation(m=4, ")


def test_distributions_of_tiny_counts_sum_to_one():
    drawn = _draw_distributions(np.full((50, 3), 1e-9), np.random.default_rng(1))
    assert drawn.sum(axis=1) == pytest.approx(np.ones(50))
    many = _draw_distributions(np.tile([4.0, 6.0], (4000, 1)), np.random.default_rng(1))
    assert many[:, 0].mean() == pytest.approx(0.4, abs=0.01)
    assert many[:, 0].var() == pytest.approx(0.24 / 11, rel=0.1)


def test_a_time_limit_gives_the_tables_so_far():
    with (
        within(2.0),
        pytest.warns(ShortfallWarning, match="were drawn before the time"),
    ):
        found = bm.impute_multiple(holed(400), 1000, thin=50, time_limit=0.5, seed=1)
    assert found.stopped == "time"
    assert found.m >= 1
    assert found.tables[0].is_complete


@pytest.mark.slow
def test_ctrl_c_gives_the_tables_so_far():
    data = holed()
    with (
        ctrl_c_after(0.5),
        pytest.warns(ShortfallWarning, match="before the interrupt"),
    ):
        found = bm.impute_multiple(data, 100_000, burn_in=1, thin=1, seed=1)
    assert found.stopped == "interrupt"
    assert all(table.is_complete for table in found.tables)


def test_progress_is_told():
    told = []
    quick(holed(30), m=1, progress=lambda what, *_: told.append(what))
    assert told == ["round 1 of 3", "round 2 of 3", "round 3 of 3"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"m": 0}, "m must be an integer >= 1"),
        ({"m": 2, "method": "order"}, "method must be one of"),
        ({"m": 2, "n_chains": 0}, "n_chains must be an integer >= 1"),
        ({"m": 2, "burn_in": 0}, "burn_in must be an integer >= 1"),
        ({"m": 2, "thin": 0}, "thin must be an integer >= 1"),
        ({"m": 2, "fill": "text"}, "fill must be one of"),
        ({"m": 10**6, "max_memory": 1e6}, "m=1000000 completed tables would need"),
    ],
)
def test_what_does_not_fit_is_refused(options, message):
    with pytest.raises(ParameterError, match=message):
        bm.impute_multiple(holed(20), **options)
