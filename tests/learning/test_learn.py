"""The front door: what is chosen, what is said, and what a stop leaves behind."""

import json
import math
import re
import sys
from dataclasses import replace

import numpy as np
import pytest
from support.strategies import holed_table, linked_rows
from support.timing import ctrl_c_after, ctrl_c_on_progress, within

from bayesmend import (
    IncompleteData,
    hide_mcar,
    learn,
    learn_em,
    learn_exact,
    learn_local,
    learn_structure,
    load_network,
)
from bayesmend._spelling import spelling
from bayesmend.errors import DataError, ParameterError
from bayesmend.learning.effort import PROOF_WORK, em_effort, suits_ensemble
from bayesmend.learning.em import STARTS
from bayesmend.outcome import Certificate, Stopped
from bayesmend.score import FamilyScorer, Score

SMALL = {"a": ["x", "x", "y", "y", None], "b": ["u", None, "v", "v", "v"]}


def noise(n_vars, n_rows=200, seed=0, rate=0.1):
    """Binary noise, by default with a tenth of the cells missing: slow to prove."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 2, (n_rows, n_vars)).astype(np.uint8)
    codes[rng.random(codes.shape) < rate] = 255
    return IncompleteData.from_codes(
        codes,
        names=[f"v{i}" for i in range(n_vars)],
        states=[("no", "yes")] * n_vars,
    )


def check_pair(data, result):
    seen = ~data.missing_mask
    assert result.completed.is_complete
    assert (result.completed.codes[seen] == data.codes[seen]).all()
    scorer = FamilyScorer.completed(data, result.completed, score=Score())
    assert result.score == pytest.approx(scorer.dag(result.dag))
    assert result.bound >= result.score


# What is chosen.


def test_a_small_table_is_solved_exactly():
    result = learn(SMALL)
    assert (result.status, result.method) == ("optimal", "exact")
    assert result.chosen == (
        "exact: 2 variables and 2 missing cells, few enough for a proof"
    )
    assert result.gap == 0.0
    assert result.is_optimal


def test_methods_agree_with_the_functions_behind_them():
    data = noise(6, 40)
    exact, local = (learn(data, method=m, seed=3) for m in ("exact", "local"))
    assert exact.score == learn_exact(data, seed=3).score
    assert local.score == learn_local(data, seed=3).score
    assert (exact.method, local.method) == ("exact", "local")
    assert local.status == "1-local optimum"


ASK = "; for a proof or a gap, use method='exact', with a time_limit"


def test_a_solver_of_ones_own_means_em():
    result = learn(noise(6, 40), solver="greedy", seed=1)
    assert (result.status, result.method) == ("local optimum", "em")
    # With that solver `exact` would refuse to begin, so it is not advised.
    assert result.chosen == "em: a proof has no use for a solver of your own"


def test_many_variables_mean_em():
    rows = linked_rows([2] * 21, 30, 3).tolist()
    rows[0][0] = None
    data = holed_table(rows, [2] * 21)
    result = learn(data, max_parents=1, restarts=0, seed=1)
    assert result.method == "em"
    assert result.chosen == "em: 21 variables, a proof goes up to 20"


@pytest.mark.parametrize("weight", [0.5, 1e8])
def test_weights_that_cannot_be_counted_mean_em(weight):
    data = IncompleteData.from_table(SMALL, weights=[1, 1, 1, weight, 1])
    reason = "em: a proof needs row weights that are whole numbers of at most"
    reason += " 100,000,000 in all"
    assert learn(data, seed=1).chosen == reason


def test_a_proof_that_would_be_refused_is_not_advised():
    weights = np.full(200, 0.5)
    data = IncompleteData.from_table(noise(6), weights=weights)
    result = learn(data, restarts=0, seed=1)
    assert result.chosen.endswith("%) are missing")
    with pytest.raises(DataError, match="whole numbers"):
        learn(data, method="exact")


@pytest.mark.parametrize("method", ["auto", "exact", "local", "em"])
def test_a_table_without_rows_is_refused(method):
    with pytest.raises(DataError, match="the table has 0 rows and 1 variable"):
        learn({"a": []}, states={"a": ["x", "y"]}, method=method)


def test_a_proof_is_not_tried_where_it_takes_long_to_begin():
    data = noise(19, 100, rate=0.04)
    result = learn(data, restarts=0, seed=1)
    assert (result.method, result.status) == ("em", "local optimum")
    assert result.chosen == (
        f"em: {data.n_missing} missing cells among 19 variables are "
        f"too many for a quick proof{ASK}"
    )


@pytest.mark.parametrize("n_threads", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_a_proof_is_given_up_after_the_same_work_on_every_run(n_threads):
    data = hide_mcar(load_network("asia").sample(700, seed=1), 0.045, seed=1).data
    found = learn(data, seed=1, n_threads=n_threads)
    assert found.chosen.startswith("em: a short search found no proof (gap ")
    assert found.chosen.endswith(ASK)
    tried = [
        learn_exact(data, seed=1, work_limit=PROOF_WORK, n_threads=n)
        for n in (n_threads, 3)
    ]
    assert tried[0].stopped == tried[1].stopped == "nodes"
    assert tried[0].bound == tried[1].bound
    assert tried[0].detail == tried[1].detail
    assert f"(gap {tried[0].gap:.3g} nats)" in found.chosen
    # The answer is that of EM alone.
    alone = learn_em(data, seed=1, n_threads=n_threads)
    assert found.network == alone.network


def test_work_is_kept_within_its_limit():
    data = noise(12, rate=0.08)
    for limit in (1e4, 1e6, 1e7):
        found = learn_exact(data, seed=1, restarts=0, work_limit=limit)
        check_pair(data, found)
        assert found.stopped == "nodes"
        # What began before the limit ends: one table, or a step for all families.
        assert limit <= found.detail["work"] <= limit + 1e7


def test_more_work_leads_to_the_proof():
    data = noise(6, 60)
    whole = learn_exact(data, seed=1)
    few, many = (
        learn_exact(data, seed=1, work_limit=limit)
        for limit in (whole.detail["work"] / 10, whole.detail["work"] * 1.01)
    )
    assert (whole.is_optimal, few.is_optimal, many.is_optimal) == (True, False, True)
    assert few.bound >= whole.bound == many.bound


def test_many_holes_mean_em():
    data = noise(12)
    assert data.n_missing > 100
    result = learn(data, restarts=1, seed=1)
    assert result.method == "em"
    assert result.chosen == "em: 258 cells (11%) are missing" + ASK


def test_many_holes_that_take_seconds_mean_an_ensemble():
    data = hide_mcar(load_network("asia").sample(200, seed=1), 0.1, seed=1).data
    result = learn(data, seed=1)
    assert result.method == "ensemble"
    assert result.chosen == f"ensemble: {data.n_missing} cells (10%) are missing" + ASK
    assert result.completed.is_complete
    # The network to be read is the best single one.
    starts, restarts = em_effort(data)
    single = learn_em(data, starts=starts, restarts=restarts, seed=1)
    assert result.dag == single.dag
    assert (result.score, result.trace[0].kind) == (single.score, "empty")
    assert result.detail["network"] == "em"
    assert result.detail["n_networks"] >= 20
    # What only EM knows is EM's, and so are tables that would take long.
    assert learn(data, solver="greedy", restarts=0, seed=1).method == "em"
    assert suits_ensemble(data)
    many = hide_mcar(load_network("asia").sample(40_000, seed=1), 0.3, seed=1).data
    assert suits_ensemble(many)  # of few distinct rows
    wide = IncompleteData.from_codes(
        np.random.default_rng(1).integers(0, 2, (9_000, 40)).astype(np.uint8),
        names=[f"v{i}" for i in range(40)],
        states=[("n", "y")] * 40,
    )
    assert not suits_ensemble(wide)
    assert not suits_ensemble(IncompleteData.from_table(SMALL))


def test_the_larger_a_table_the_fewer_restarts_it_gets():
    def effort(n_rows, n_vars):
        codes = np.random.default_rng(1).integers(0, 3, (n_rows, n_vars))
        names = [f"v{i}" for i in range(n_vars)]
        states = [("a", "b", "c")] * n_vars
        return em_effort(
            IncompleteData.from_codes(
                codes.astype(np.uint8), names=names, states=states
            )
        )

    assert effort(200, 20) == (STARTS, 10)
    few = [effort(200, n_vars)[1] for n_vars in (60, 150, 300)]
    assert few == sorted(few, reverse=True)  # of few rows but many variables, too
    assert 1 <= few[-1] < few[0] <= 10
    assert effort(30_000, 60) == (("complete", "random"), 0)


def test_a_proof_is_spelled_as_the_caller_spells():
    with spelling(lambda name, *value: f"--{name}"):
        chosen = learn(noise(12), restarts=0, seed=1).chosen
    assert chosen.endswith("; for a proof or a gap, use --method, with a --time_limit")


def test_complete_data_are_plain_structure_learning():
    table = {"a": ["x", "x", "y", "y"], "b": ["u", "u", "v", "v"]}
    result = learn(table)
    assert result.score == pytest.approx(learn_structure(table).score)
    assert result.detail["note"] == (
        "no cell is missing: this is plain structure learning"
    )
    assert (result.status, len(result.cells)) == ("optimal", 0)


def test_complete_data_with_many_variables_are_searched_over_orders():
    data = load_network("lucas").sample(200, seed=1)
    wide = np.hstack([data.codes, data.codes[::-1]])
    table = IncompleteData.from_codes(
        np.asfortranarray(wide),
        names=[f"v{i}" for i in range(24)],
        states=[*data.states, *data.states],
    )
    result = learn(table, seed=1)
    assert result.method == "local"
    assert re.fullmatch(r"gap \d+ nats \([\d.]+ %\)", result.status)
    assert result.chosen == (
        "local: no cell is missing; for a proof of the structure, use learn_structure"
    )
    assert result.score == learn_structure(table, solver="order", seed=1).score


def test_the_same_seed_gives_the_same_answer():
    one, two = (learn(noise(8, 60), method="local", seed=5) for _ in range(2))
    assert one.score == two.score
    assert one.dag == two.dag
    assert (one.completed.codes == two.completed.codes).all()


def test_the_completed_table_is_of_the_kind_given():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(SMALL)
    completed = learn(frame).completed.to_table()
    assert isinstance(completed, pandas.DataFrame)
    assert not completed.isna().any().any()


def test_progress_is_told():
    told = []
    data = noise(10)
    learn(data, time_limit=1.0, seed=1, progress=lambda *args: told.append(args))
    assert told
    assert all(isinstance(what, str) and seconds >= 0 for what, _, seconds in told)


def test_an_error_of_progress_is_raised():
    def fail(*_args):
        raise RuntimeError("stop here")

    with pytest.raises(RuntimeError, match="stop here"):
        learn(noise(12), time_limit=5.0, seed=1, progress=fail)


# What is said.


@pytest.mark.parametrize(
    ("score", "bound", "locality", "stopped", "words"),
    [
        (-10.0, -10.0, None, "nothing", "optimal"),
        (-10.0, -10.0 + 5e-7, 1, "time", "optimal"),
        (-2400.0, -2398.8, None, "time", "gap 1.2 nats (0.05 %)"),
        (-10.0, math.inf, 2, "nothing", "2-local optimum"),
        (-10.0, math.inf, None, "time", "stopped at time limit"),
        (-10.0, math.inf, None, "interrupt", "stopped at interrupt"),
        (-9.0, -8.1, 1, "nothing", "1-local optimum, gap 0.9 nats (10 %)"),
        (0.0, 1.0, None, "nodes", "gap 1 nats"),
    ],
)
def test_what_is_known_in_words(score, bound, locality, stopped, words):
    found = replace(
        learn(SMALL),
        score=score,
        bound=bound,
        certificate=Certificate.of(score, bound, is_local=locality is not None),
        locality=locality,
        stopped=Stopped(stopped),
    )
    assert found.status == words


def test_a_result_is_ready_for_json():
    exact = learn(SMALL)
    found = json.loads(json.dumps(exact.to_dict()))
    assert found["score"] == exact.score
    assert found["bound"] == exact.bound
    assert found["gap"] == 0.0
    assert found["status"] == "optimal"
    assert found["arcs"] == [list(arc) for arc in exact.dag.arcs]
    assert found["n_mended"] == 2
    local = json.loads(json.dumps(learn(SMALL, method="local").to_dict()))
    assert (local["bound"], local["gap"]) == (None, None)
    assert "1-local optimum" in repr(learn(SMALL, method="local"))


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (
            {"method": "magic"},
            "method must be one of auto, exact, local, em, em-hard, ensemble. Got",
        ),
        ({"solver": "magic"}, "Got 'magic'"),
        ({"method": "exact", "solver": "magic"}, "Got 'magic'"),
        ({"method": "local", "solver": "magic"}, "Got 'magic'"),
        ({"locality": 0}, "locality must be an integer >= 1. Got 0"),
        ({"restarts": -1}, "restarts must be an integer >= 0. Got -1"),
        ({"time_limit": 0}, "time_limit must be a number of seconds > 0"),
        ({"gap": -1}, "gap must be a number of nats >= 0. Got -1"),
        ({"max_memory": 0}, "max_memory must be a number of bytes > 0. Got 0"),
    ],
)
def test_arguments_out_of_range_are_refused(options, problem):
    with pytest.raises(ParameterError, match=problem):
        learn(SMALL, **options)
    # Whatever `auto` chooses, which here is em.
    many = {"a": ["x", "y", None] * 60, "b": ["u", None, "v"] * 60}
    with pytest.raises(ParameterError, match=problem):
        learn(many, **options)


def test_a_column_without_a_value_and_without_states_is_refused():
    with pytest.raises(DataError, match="'b'"):
        learn({"a": ["x", "y"], "b": [None, None]}, columns=["a", "b"])


def test_exact_beyond_sixty_variables_is_refused():
    data = holed_table([[0] * 61, [None] * 61, [1] * 61], [2] * 61)
    with pytest.raises(ParameterError, match="at most 60 variables"):
        learn(data, method="exact")


# Stops.


@pytest.mark.parametrize("time_limit", [0.01, 0.3])
@pytest.mark.parametrize(
    "options",
    [
        {"method": "exact"},
        {"method": "local"},
        {"method": "local", "locality": 3},
        {"method": "local", "solver": "order"},
        {"method": "local", "solver": "greedy"},
        {"method": "local", "solver": "ilp"},
    ],
)
def test_a_time_limit_is_kept_and_leaves_a_valid_pair(options, time_limit):
    data = noise(14)
    with within(time_limit + 0.5):
        result = learn(data, time_limit=time_limit, seed=1, **options)
    check_pair(data, result)


@pytest.mark.parametrize("method", ["exact", "local"])
def test_a_time_limit_is_kept_where_one_dynamic_programme_takes_a_second(method):
    data = noise(22)
    with within(1.5):
        result = learn(data, method=method, solver="subsets", time_limit=1.0, seed=1)
    check_pair(data, result)
    assert result.stopped == "time"


@pytest.mark.parametrize("method", ["exact", "local"])
def test_a_time_limit_is_kept_where_tables_of_all_families_take_longer(method):
    data = noise(22)
    with within(1.0):
        result = learn(data, method=method, max_parents=5, time_limit=0.5, seed=1)
    check_pair(data, result)
    assert (result.method, result.stopped) == (method, "time")
    if method == "exact":  # beyond 20 variables the local search needs no such tables
        assert "hill climbing" in result.detail["note"]


def test_no_time_limit_does_better_than_none():
    data = noise(16, 100)
    unlimited = learn(data, method="local", seed=1, restarts=0).score
    for time_limit in (0.05, 0.2, 0.8):
        found = learn(data, method="local", time_limit=time_limit, seed=1, restarts=0)
        assert found.score <= unlimited


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to a process")
@pytest.mark.parametrize(
    ("n_vars", "options"),
    [
        (14, {"method": "exact"}),
        pytest.param(22, {"method": "exact"}, marks=pytest.mark.slow),
        (22, {"method": "local", "solver": "subsets"}),
        (40, {"method": "local", "solver": "order"}),
        (40, {"method": "local", "solver": "ilp"}),
    ],
)
def test_ctrl_c_returns_a_valid_pair(n_vars, options):
    data = noise(n_vars)
    with ctrl_c_on_progress() as progress:
        result = learn(data, seed=1, progress=progress, **options)
    check_pair(data, result)
    assert result.stopped == "interrupt"
    assert "optimal" not in result.status


def test_ctrl_c_between_short_climbs_returns_a_valid_pair():
    # No single one takes long enough to tell of it.
    data = noise(40)
    with ctrl_c_after(0.5):
        result = learn(data, method="local", solver="greedy", restarts=500, seed=1)
    check_pair(data, result)
    assert (result.status, result.stopped) == (
        "stopped at interrupt",
        "interrupt",
    )


@pytest.mark.parametrize("method", ["em", "em-hard"])
def test_em_is_learn_em(method):
    data = hide_mcar(load_network("asia").sample(200, seed=1), 0.1, seed=1).data
    found = learn(data, method=method, restarts=2, seed=3)
    same = learn_em(data, hard=method == "em-hard", restarts=2, seed=3)
    assert found.method == method
    assert found.network == same.network
    assert np.array_equal(found.completed.codes, same.completed.codes)


def test_auto_searches_where_inference_does_not_fit_into_memory():
    data = hide_mcar(load_network("asia").sample(300, seed=1), 0.4, seed=1).data
    found = learn(data, max_memory=10, seed=1)
    assert found.method == "local"
    assert "does not fit into memory" in found.chosen
    check_pair(data, found)
    assert learn(data, restarts=0, seed=1).method == "em"


def test_a_table_without_rows_is_nothing_to_learn_from():
    table = {"a": [], "b": []}
    with pytest.raises(DataError, match="the table has no rows to learn from"):
        learn(table)
    with pytest.raises(DataError, match="0 rows and 1 variable, so there is nothing"):
        learn({"a": []}, states={"a": ["x", "y"]})


@pytest.mark.parametrize("learner", [learn_exact, learn_local])
def test_completions_are_not_chosen_by_a_score_that_is_not_convex(learner):
    with pytest.raises(ParameterError, match="score='bds' is not convex in the counts"):
        learner(SMALL, score="bds")


def test_of_the_learners_em_takes_such_a_score():
    holed = hide_mcar(load_network("asia").sample(80, seed=1), 0.02, seed=1).data
    found = learn(holed, score="bds", seed=1, n_threads=1)
    assert found.chosen == "em: a proof needs a score that is convex in the counts"
    again = learn(holed, score="bds", seed=1, n_threads=3)
    assert (found.score, found.dag) == (again.score, again.dag)
