import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import oracle
from support.timing import ctrl_c_after

import bayesmend as bm
from bayesmend.data.states import MISSING
from bayesmend.errors import OutOfMemoryError, ParameterError
from bayesmend.learning import learn_ensemble
from bayesmend.learning.ensemble.stacking import hold_out, stack
from bayesmend.learning.ensemble.weighing import bootstrap_weights

ASIA = bm.load_network("asia")


def asia(n_rows=120, rate=0.1, seed=1):
    return bm.hide_mcar(ASIA.sample(n_rows, seed=seed), rate, seed=seed)


def short(data, **options):
    """Learn few networks, and no latent classes unless asked."""
    options = {"n_networks": 5, "classes": (), "ess": 1.0, "seed": 1} | options
    return learn_ensemble(data, **options)


FOUND = {}


def found():
    """Return the ensemble of some table, with all kinds of members: learned once."""
    if not FOUND:
        FOUND[0] = learn_ensemble(
            asia().data, n_networks=20, classes=(2, 3), class_starts=2, seed=1
        )
    return FOUND[0]


def test_observed_cells_stay_and_missing_ones_are_filled():
    hidden = asia()
    result = found()
    given = hidden.data.codes
    assert result.completed.is_complete
    assert (result.completed.codes[given != MISSING] == given[given != MISSING]).all()
    assert len(result.cells) == hidden.data.n_missing
    assert result.method == "ensemble"
    assert result.status == "average of 20 networks and 4 latent class models"


def test_the_cells_are_those_that_impute_finds_by_the_mixture():
    result = found()
    again = bm.impute(result, asia().data)
    assert again.method == "marginal"
    assert again.completed == result.completed
    assert np.allclose(again.cells.probabilities, result.cells.probabilities)
    assert (again.cells.runners_up == result.cells.runners_up).all()
    assert (again.cells.supported == result.cells.supported).all()


def test_an_ensemble_answers_as_its_members_do_on_average():
    result = found()
    weights = result.mixture.weights
    each = [
        bm.query(m, "bronc", given={"smoke": "yes"}).distributions["bronc"]["yes"]
        for m in result.members
    ]
    answer = bm.query(result, "bronc", given={"smoke": "yes"})
    assert answer.distributions["bronc"]["yes"] == pytest.approx(float(weights @ each))


@pytest.mark.slow
def test_the_answer_does_not_depend_on_threads():
    data = asia(60).data
    options = {"n_networks": 6, "classes": (2,), "class_starts": 2, "seed": 3}
    one, two, seven = (learn_ensemble(data, n_threads=n, **options) for n in (1, 2, 7))
    assert one.mixture == two.mixture == seven.mixture
    assert one.network == two.network == seven.network
    assert (one.cells.probabilities == seven.cells.probabilities).all()
    assert threading.active_count() < 20


def test_another_seed_gives_other_networks():
    data = asia(60).data
    assert short(data).mixture == short(data).mixture
    assert short(data).mixture != short(data, seed=2).mixture


def test_an_ensemble_of_one_network_is_that_network():
    data = asia().data
    result = short(data, n_networks=1)
    assert result.members == (result.network,)
    alone = bm.impute(result.network, data, method="marginal")
    assert alone.completed == result.completed
    assert np.allclose(alone.cells.probabilities, result.cells.probabilities)


def test_a_mean_that_has_settled_ends_the_search():
    data = asia().data
    result = short(data, n_networks=60, tol=0.5)
    assert result.detail["settled"]
    assert result.detail["n_networks"] == 20
    assert not found().detail["settled"]


def test_arcs_that_are_required_are_certain_and_forbidden_ones_never_found():
    rules = {"required": [("tub", "smoke")], "forbidden": [("smoke", "bronc")]}
    result = short(asia().data, constraints=rules)
    arcs = result.arc_probabilities()
    assert arcs.arc("tub", "smoke").probability == 1
    assert arcs.arc("smoke", "bronc").probability == 0
    assert ("tub", "smoke") in result.dag.arcs


def test_the_threshold_chooses_the_consensus():
    data = asia().data
    none, auto = short(data, threshold=1.0), short(data)
    assert none.dag.n_arcs == 0
    assert auto.dag == auto.consensus()


def test_a_complete_table_gives_confidences_all_the_same():
    result = short(ASIA.sample(300, seed=1), n_networks=8)
    assert len(result.cells) == 0
    assert result.arc_probabilities().arc("smoke", "bronc").undirected > 0.7
    assert len(result.mixture.structures) == 8


def test_weights_of_rows_count_as_rows():
    data = asia(80).data
    weights = np.where(np.arange(80) < 40, 2.0, 0.0)
    weighted = bm.IncompleteData.from_codes(
        data.codes, names=data.names, states=data.states, weights=weights
    )
    result = short(weighted, classes=(2,), ess=None)
    assert result.completed.is_complete


def test_too_few_cells_for_a_trial_leave_the_networks_alone():
    result = learn_ensemble({"a": ["x", "y", None] * 3}, n_networks=2, seed=1)
    assert result.detail["weights"] == {"networks": 1.0}
    assert len(result.members) == 2


def test_of_ess_the_better_one_is_chosen_unless_it_is_given():
    assert found().detail["sample_size"] in (1.0, 10.0)
    assert short(asia().data, ess=5.0).detail["sample_size"] == 5.0
    rule = bm.Score("bdeu", ess=3.0)
    assert short(asia().data, score=rule, ess=None).detail["sample_size"] == 3.0
    assert short(asia(60).data, ess="auto", n_networks=1).detail["sample_size"] in (
        1.0,
        10.0,
    )


def test_ctrl_c_returns_what_is_there():
    data = asia().data
    with ctrl_c_after(0.3):
        result = short(data, n_networks=100_000, tol=0.0)
    assert result.stopped == "interrupt"
    assert result.status.endswith("stopped at interrupt")
    assert result.completed.is_complete


def test_an_ensemble_goes_on_with_the_members_it_has():
    data = asia().data
    first = learn_ensemble(data, n_networks=4, classes=(2,), class_starts=2, seed=1)
    more = learn_ensemble(data, n_networks=10, resume=first, seed=2)
    assert more.mixture.structures[:4] == first.mixture.structures
    assert len(more.mixture.structures) == more.detail["n_networks"] == 10
    assert more.mixture.chains[:10] == (0, 1, 2, 3, 0, 1, 2, 3, 0, 1)
    for name in ("sample_size", "weights", "planned", "classes"):
        assert more.detail[name] == first.detail[name]
    hidden = [[n for n in x.members if n.n_vars > 8] for x in (first, more)]
    assert hidden[0] == hidden[1]
    again = bm.impute(more, data)
    assert again.completed == more.completed
    assert np.allclose(again.cells.probabilities, more.cells.probabilities)
    # There is nothing to do where all networks are there.
    same = learn_ensemble(data, n_networks=4, resume=first, seed=2)
    assert same.mixture == first.mixture
    assert np.allclose(same.cells.probabilities, first.cells.probabilities)


@pytest.mark.parametrize("seconds", [0.02, 0.15, 0.4])
def test_what_ctrl_c_left_is_resumed(seconds):
    data = asia(400).data
    with ctrl_c_after(seconds):
        try:
            first = learn_ensemble(data, n_networks=100_000, tol=0.0, seed=1)
        except KeyboardInterrupt:  # before there was any network
            return
    assert first.stopped == "interrupt"
    n_wanted = first.detail["n_networks"] + 4
    more = learn_ensemble(data, n_networks=n_wanted, tol=0.0, resume=first, seed=1)
    assert not more.stopped
    assert more.detail["n_networks"] == n_wanted
    assert more.detail["planned"] is not None


def test_only_an_ensemble_of_the_same_table_is_resumed():
    data = asia(60).data
    first = short(data, n_networks=1)
    options = {"resume": first, "seed": 1}
    with pytest.raises(ParameterError, match="resume must be what learn_ensemble ret"):
        learn_ensemble(data, resume=bm.learn_em(data, restarts=0, seed=1))
    with pytest.raises(ParameterError, match="table with other variables or states"):
        learn_ensemble({"a": ["x", "y", None] * 3}, **options)
    with pytest.raises(ParameterError, match="from a table with other cells"):
        learn_ensemble(asia(60, seed=2).data, **options)
    for name, value in (("ess", 1.0), ("classes", (2,)), ("mechanism", "self")):
        with pytest.raises(ParameterError, match=rf"^{name}=.* has no effect"):
            learn_ensemble(data, **options, **{name: value})


@pytest.mark.parametrize("n_threads", [1, 2])
def test_a_time_limit_is_kept_with_an_answer(n_threads):
    data = asia(500).data
    result = learn_ensemble(
        data, n_networks=10**6, tol=0.0, time_limit=0.4, seed=1, n_threads=n_threads
    )
    assert result.stopped == "time"
    assert result.completed.is_complete
    assert result.members


def test_no_time_at_all_still_gives_one_network():
    result = learn_ensemble(asia().data, time_limit=1e-3, seed=1)
    assert len(result.members) == 1
    assert result.completed.is_complete


def test_too_many_networks_for_the_memory_are_refused_beforehand():
    with pytest.raises(OutOfMemoryError, match=r"n_networks=1000000000.*would need"):
        learn_ensemble(asia().data, n_networks=10**9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_networks": 0}, "n_networks must be an integer >= 1"),
        ({"classes": (1,)}, "classes must be an integer >= 2"),
        ({"classes": 4}, "classes must"),
        ({"class_starts": 0}, "class_starts must be an integer >= 1"),
        ({"tol": -1.0}, "tol must be"),
        ({"threshold": 2.0}, "threshold must be"),
        ({"ess": "much"}, "ess must be"),
        ({"score": bm.Score("bdeu"), "ess": "auto"}, "ess='auto' goes with the name"),
    ],
)
def test_bad_options_are_told(options, message):
    with pytest.raises(ParameterError, match=message):
        learn_ensemble(asia().data, **options)


@given(
    st.integers(0, 2**32 - 1), st.integers(2, 3), st.sampled_from([0.0, 0.5, 1.0, 3.0])
)
def test_weights_of_kinds_are_the_best_on_a_grid(seed, n_kinds, extra):
    rng = np.random.default_rng(seed)
    p = rng.uniform(0.05, 0.95, (n_kinds, 12))
    weights = 1 + extra * rng.random(12)
    shares = stack(p, weights)
    assert shares.sum() == pytest.approx(1)
    if (shares == 0).any():
        return  # one that was negligible is left out, which costs a little
    ticks = [k / 20 for k in range(1, 20)]
    grid = (
        (*some, 1 - sum(some))
        for some in (
            [[a] for a in ticks]
            if n_kinds == 2
            else [[a, b] for a in ticks for b in ticks if a + b < 0.999]
        )
    )
    reached, *others = (
        oracle.stacking_log_likelihood(p.tolist(), weights.tolist(), s, 1.0)
        for s in (shares.tolist(), *grid)
    )
    assert reached >= max(others) - 1e-6


def test_cells_that_are_held_out_are_found_again():
    data = asia(100, 0.2).data
    held = hold_out(data, np.random.default_rng(1))
    hidden = (held.data.codes == MISSING) & (data.codes != MISSING)
    assert held.data.n_missing == data.n_missing + len(held.entries)
    # Lay out the truth as the core lays out distributions, cell by cell.
    flat, at = [], 0
    for v in range(data.n_vars):
        for row in range(data.n_rows):
            if held.data.codes[row, v] == MISSING:
                if hidden[row, v]:
                    flat.append(at + int(data.codes[row, v]))
                at += int(data.card[v])
    assert held.entries.tolist() == flat


def test_bootstrap_weights_keep_their_sum_and_spare_rows_without_weight():
    weights = np.array([0.0, 0.5, 2.0, 1.5])
    data = bm.IncompleteData.from_codes(
        np.zeros((4, 1), np.uint8), names=["a"], states=[("x",)], weights=weights
    )
    rng = np.random.default_rng(1)
    drawn = np.array([bootstrap_weights(data, rng) for _ in range(2000)])
    assert np.allclose(drawn.sum(axis=1), 4.0)
    assert (drawn[:, 0] == 0).all()
    assert drawn.mean(axis=0) == pytest.approx(weights, abs=0.1)
    nothing = bm.IncompleteData.from_codes(
        np.zeros((2, 1), np.uint8), names=["a"], states=[("x",)], weights=np.zeros(2)
    )
    assert bootstrap_weights(nothing, rng).tolist() == [0.0, 0.0]
