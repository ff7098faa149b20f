import numpy as np
import pytest
from support.timing import ctrl_c_after

import bayesmend as bm
from bayesmend.errors import ParameterError
from bayesmend.learning.ensemble.weighing import bootstrap_weights

ASIA = bm.load_network("asia")


def test_each_structure_is_that_of_the_rows_drawn():
    data = ASIA.sample(150, seed=1)
    found = bm.bootstrap(data, n=4, method="em", seed=3)
    for dag, generator in zip(
        found.structures, np.random.default_rng(3).spawn(4), strict=True
    ):
        counts = bootstrap_weights(data, generator).astype(int)
        # The rows written out as often as they are drawn, instead of weighted.
        sample = bm.IncompleteData.from_codes(
            np.asfortranarray(data.codes[np.repeat(np.arange(150), counts)]),
            names=data.names,
            states=data.states,
        )
        best = bm.learn_structure(sample)
        assert bm.dag_score(dag, sample) == pytest.approx(best.score)


def test_the_answer_does_not_depend_on_threads():
    data = bm.hide_mcar(ASIA.sample(60, seed=1), 0.1, seed=1).data
    options = {"n": 5, "method": "em", "restarts": 0, "seed": 1}
    one, three = (bm.bootstrap(data, n_threads=n, **options) for n in (1, 3))
    assert one.structures == three.structures
    assert "5 structures, method='em'" in repr(one)


@pytest.mark.slow
def test_strong_arcs_are_sure_and_absent_ones_are_not():
    data = ASIA.sample(400, seed=1)
    found = bm.bootstrap(data, n=10, seed=1)
    arcs = found.arc_probabilities()
    assert arcs.arc("smoke", "bronc").undirected == 1
    assert arcs.arc("asia", "bronc").undirected < 0.5
    assert ("smoke", "bronc") in found.consensus().cpdag().undirected or any(
        {"smoke", "bronc"} == set(arc) for arc in found.consensus().arcs
    )


@pytest.mark.parametrize("n_threads", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_ctrl_c_and_the_time_limit_leave_the_samples_that_are_done(n_threads):
    data = ASIA.sample(100, seed=1)
    options = {"n": 100_000, "method": "em", "n_threads": n_threads, "seed": 1}
    timed = bm.bootstrap(data, time_limit=0.3, **options)
    assert timed.stopped == "time"
    assert 0 < len(timed.structures) < 100_000
    with ctrl_c_after(0.3):
        interrupted = bm.bootstrap(data, **options)
    assert interrupted.stopped == "interrupt"
    n = min(len(timed.structures), len(interrupted.structures))
    assert interrupted.structures[:n] == timed.structures[:n]


def test_what_cannot_be_done_is_told():
    data = ASIA.sample(50, seed=1)
    with pytest.raises(ParameterError, match="n must be an integer >= 1"):
        bm.bootstrap(data, n=0)
    with pytest.raises(ParameterError, match="method must be"):
        bm.bootstrap(data, method="ensemble")
    with pytest.raises(ParameterError, match="left no time for a single sample"):
        bm.bootstrap(data, time_limit=1e-6)


def test_the_solver_is_the_one_that_is_named():
    data = bm.load_network("asia").sample(300, seed=1)
    found = bm.bootstrap(data, n=1, method="em", solver="greedy", seed=5)
    generator = np.random.default_rng(5).spawn(1)[0]
    weights = bootstrap_weights(data, generator)
    sample = bm.IncompleteData.from_codes(
        data.codes, names=data.names, states=data.states, weights=weights
    )
    alone = bm.learn_structure(sample, solver="greedy", seed=generator)
    assert found.structures == (alone.dag,)
    with pytest.raises(ParameterError, match="solver='order' goes with"):
        bm.bootstrap(data, n=1, method="exact", solver="order")
