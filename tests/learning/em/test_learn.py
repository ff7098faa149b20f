"""Structural EM: its slow twin, complete data, starts, solvers, limits, messages."""

import gc
import json
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import oracle
from support.examples import examples
from support.networks import Case, flat, plain, random_case
from support.strategies import MISSING, holed_table, linked_rows, table_of
from support.timing import ctrl_c_after, within

import bayesmend as bm
from bayesmend.errors import (
    ConvergenceWarning,
    DataError,
    InferenceError,
    ParameterError,
)
from bayesmend.graph.constraints import Constraints
from bayesmend.learning.em import STARTS
from bayesmend.learning.em import search as em_search
from bayesmend.learning.em.search import Search
from bayesmend.structure import solve_order

SEEDS = st.integers(0, 2**32)
KINDS = st.sampled_from(["bdeu", "bic", "qnml"])
pytestmark = pytest.mark.filterwarnings("ignore::bayesmend.errors.SupportWarning")
FAINT = 1e-3  # rows spread evenly over the states of a variable, at the start


def asia_table(n_rows=300, rate=0.15, seed=1):
    return bm.hide_mcar(bm.load_network("asia").sample(n_rows, seed=seed), rate, seed=1)


def wide_table(n_vars=14, n_rows=120, rate=0.1):
    """More variables than the structure is searched exactly for."""
    rows = linked_rows([2] * n_vars, n_rows, 3).tolist()
    rng = np.random.default_rng(3)
    rows = [[None if rng.random() < rate else c for c in row] for row in rows]
    return holed_table(rows, [2] * n_vars)


@pytest.fixture
def listed(monkeypatch):
    """Have any table treated as one of very many variables; tell how climbs go."""
    told = []

    def climb(scorer, rules, **how):
        told.append((how.get("promising") is None, rules.allowed.mean()))
        return climbs(scorer, rules, **how)

    climbs = em_search.climb_from
    monkeypatch.setattr(em_search, "_WIDE_WORK", 0.0)
    monkeypatch.setattr(em_search, "_WIDE_VARS", 0)
    monkeypatch.setattr(em_search, "_COARSE", 1.0)
    monkeypatch.setattr("bayesmend.structure.greedy.MOST_NOTED", 2)
    monkeypatch.setattr(em_search, "climb_from", climb)
    return told


def check(result, data):
    """What holds of every result."""
    seen = data.codes != MISSING
    assert result.completed.is_complete
    assert np.array_equal(result.completed.codes[seen], data.codes[seen])
    assert len(result.cells) == data.n_missing
    assert result.network.dag == result.dag
    explained = bm.most_probable(result.network, data).completed
    assert result.completed == explained
    for step in result.trace:
        assert np.isfinite(step.log_likelihood).all()
        assert (np.diff(step.log_likelihood) >= 0).all()
    evidence = bm.log_evidence(result.network, data)
    weights = np.ones(data.n_rows) if data.weights is None else data.weights
    assert result.log_likelihood == pytest.approx(evidence @ weights)


# --- against the slow twin ------------------------------------------------------------


@examples(60)
@given(
    SEEDS, st.sampled_from(["bdeu", "bic", "qnml"]), st.sampled_from([0.0, 0.1, 1.0])
)
def test_scores_on_the_way_are_those_of_the_slow_twin(seed, kind, support):
    case = random_case(seed, max_vars=3, max_joint=30, max_rows=10)
    data, mass = case.data, sum(case.mass)
    if data.is_complete:
        return
    result = bm.learn_em(
        data,
        score=kind,
        support=support,
        max_parents=2,
        starts=("empty",),
        restarts=0,
        tol=1e-7,
        n_threads=1,
    )
    check(result, data)
    twin = oracle.structural_em(
        case.rows,
        case.card,
        case.mass,
        2,
        kind,
        1.0,
        faint_shares(case),
        1e-7 * max(mass, 1.0),
        support,
    )
    # Structures that score the same lead on to the same scores.
    assert result.score == pytest.approx(max(twin), abs=1e-3)
    assert result.trace[0].score == pytest.approx(twin[0], abs=1e-4)


def faint_shares(case):
    shares = []
    for v, r in enumerate(case.card):
        counts = [FAINT / r] * r
        for row, weight in zip(case.rows, case.mass, strict=True):
            if row[v] is not None:
                counts[row[v]] += weight
        shares.append([n / sum(counts) for n in counts])
    return shares


@examples(40)
@given(SEEDS, st.booleans())
def test_every_table_gets_an_answer(seed, hard):
    case = random_case(seed)
    result = bm.learn_em(case.data, hard=hard, restarts=1, seed=1, n_threads=1)
    check(result, case.data)
    assert result.method == ("em-hard" if hard else "em")
    assert result.score <= result.bound
    assert json.loads(json.dumps(result.to_dict()))["n_mended"] == case.data.n_missing


def test_the_score_is_that_of_expected_counts_corrected():
    data = asia_table().data
    result = bm.learn_em(data, starts=("mode",), restarts=0, tol=1e-10, seed=1)
    fit = bm.fit_parameters(result.dag, data, tol=1e-10)
    rows = [[None if c == MISSING else c for c in row] for row in data.codes.tolist()]
    exact = oracle.observed_score(
        *plain(fit.network), rows, [1.0] * len(rows), "bdeu", 1.0
    )
    assert result.score == pytest.approx(exact, abs=0.05)


# --- complete data --------------------------------------------------------------------


def test_listed_parents_are_enough(listed, monkeypatch):
    data = wide_table(n_vars=30, n_rows=300)
    how = {"starts": ("mode", "random"), "restarts": 2, "seed": 1, "n_threads": 1}
    found = bm.learn_em(data, **how)
    check(found, data)
    first, *others = listed
    assert first == (False, 29 / 30)
    assert sum(share < 0.5 for is_within, share in others if is_within) > 10
    assert any(not is_within for is_within, _ in others)  # of every start, among all
    (best,) = {s.log_likelihood for s in found.trace if s.score == found.score}
    assert np.diff(best)[-1] < 1e-6 * data.n_rows  # fitted to the end
    assert min(len(step.log_likelihood) for step in found.trace) == 2
    again = bm.learn_em(data, **{**how, "n_threads": 3})
    assert (again.network, again.score) == (found.network, found.score)
    monkeypatch.setattr(em_search, "_WIDE_VARS", 1000)
    assert found.score >= bm.learn_em(data, **how).score - 10


@pytest.mark.parametrize("how", [{}, {"time_limit": 1000.0}])
@pytest.mark.parametrize("error", [KeyboardInterrupt, TimeoutError])
def test_a_structure_is_kept_before_it_is_fitted(listed, monkeypatch, error, how):
    fits, n_fine = em_search.Table.fit, []

    def fit(self, dag, cpts, *, tol, **more):
        n_fine.append(tol < 1.0 and dag.n_arcs > 0)
        if n_fine[-1]:
            raise error
        return fits(self, dag, cpts, tol=tol, **more)

    monkeypatch.setattr(em_search.Table, "fit", fit)
    data = wide_table(n_vars=16, n_rows=150)
    found = bm.learn_em(data, starts=("mode",), restarts=0, seed=1, n_threads=1, **how)
    check(found, data)
    assert found.stopped
    assert n_fine[-1]
    assert found.dag.n_arcs == found.trace[-1].n_arcs > 0


def test_listed_parents_keep_constraints(listed):
    data = wide_table()
    known = {"required": [("v3", "v9")], "forbidden": [("v0", "v1"), ("v1", "v0")]}
    found = bm.learn_em(data, constraints=known, restarts=2, max_parents=2, seed=1)
    check(found, data)
    assert ("v3", "v9") in found.dag.arcs
    assert not {("v0", "v1"), ("v1", "v0")} & set(found.dag.arcs)
    assert max(map(len, found.dag.parents)) <= 2
    assert any(is_within for is_within, _ in listed)


@pytest.mark.parametrize("solver", ["auto", "subsets", "order", "greedy"])
@pytest.mark.parametrize("hard", [False, True])
def test_on_complete_data_it_is_plain_learning(solver, hard):
    data = bm.load_network("asia").sample(300, seed=1)
    result = bm.learn_em(data, solver=solver, hard=hard, seed=4)
    found = bm.learn_structure(data, solver=solver, seed=4)
    assert result.dag == found.dag
    assert result.score == found.score
    assert result.bound == found.bound
    np.testing.assert_array_equal(flat(result.network.cpts), flat(found.network.cpts))
    assert result.completed == data
    assert result.is_optimal == (found.status == "optimal")
    assert len(result.cells) == 0
    assert result.trace == ()
    assert json.dumps(result.to_dict())


def test_a_hole_that_tells_nothing_changes_little():
    data = bm.load_network("asia").sample(300, seed=1)
    codes = np.vstack([data.codes, np.full((1, 8), MISSING, np.uint8)])
    holed = bm.IncompleteData.from_codes(codes, names=data.names, states=data.states)
    result = bm.learn_em(holed, seed=1)
    found = bm.learn_structure(data, seed=1)
    assert result.dag.cpdag() == found.dag.cpdag()
    assert result.log_likelihood == pytest.approx(
        found.network.log_likelihood(data).sum(), abs=0.5
    )


# --- soft and hard --------------------------------------------------------------------


@pytest.mark.parametrize(
    "seed", [*range(3), *(pytest.param(s, marks=pytest.mark.slow) for s in range(3, 8))]
)
def test_hard_em_ends_where_completion_and_network_agree(seed):
    data = asia_table(seed=seed).data
    result = bm.learn_em(data, hard=True, support=0, restarts=2, seed=seed)
    check(result, data)
    again = bm.learn_structure(result.completed, solver="subsets")
    assert bm.dag_score(result.dag, result.completed) == pytest.approx(again.score)
    network = bm.Network.fit(
        result.dag, result.completed, estimate="posterior", ess=1.0
    )
    np.testing.assert_allclose(flat(network.cpts), flat(result.network.cpts))
    assert bm.most_probable(network, data).completed == result.completed


def test_several_starts_are_at_least_as_good_as_each_alone():
    data = asia_table().data
    best = bm.learn_em(data, restarts=0, seed=1)
    alone = [
        bm.learn_em(data, starts=(kind,), restarts=0, seed=1).score for kind in STARTS
    ]
    assert best.score >= max(alone[:-1]) - 1e-6  # but for draws at random
    assert set(best.detail["scores"]) == set(STARTS)
    assert max(best.detail["scores"].values()) == best.score
    assert best.detail["scores"][best.detail["start"]] == best.score
    assert max(step.score for step in best.trace) == best.score


def test_redraws_never_lower_the_score():
    data = asia_table(rate=0.3).data
    without = bm.learn_em(data, restarts=0, seed=1)
    with_them = bm.learn_em(data, restarts=6, seed=1)
    assert with_them.score >= without.score
    assert "restart" in with_them.detail["scores"]


@pytest.mark.parametrize("kind", STARTS)
@pytest.mark.parametrize("hard", [False, True])
def test_each_start_works_alone(kind, hard):
    data = asia_table().data
    result = bm.learn_em(data, starts=(kind,), restarts=0, hard=hard, seed=1)
    check(result, data)
    assert {step.kind for step in result.trace} == {kind}
    assert result.status == "local optimum"


def test_without_complete_rows_it_starts_from_no_arcs():
    table = {"a": ["x", None, "y", None], "b": [None, "u", None, "v"]}
    result = bm.learn_em(table, starts=("complete",), restarts=0)
    assert result.detail["start"] == "empty"
    assert result.completed.is_complete


# --- the same answer ------------------------------------------------------------------


@pytest.mark.parametrize("hard", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("make", [lambda: asia_table().data, wide_table])
def test_the_same_seed_gives_the_same_answer_for_any_threads(hard, make):
    data = make()
    one, four, seven = (
        bm.learn_em(data, hard=hard, restarts=2, seed=7, n_threads=n) for n in (1, 4, 7)
    )
    for other in (four, seven):
        assert other.score == one.score
        assert other.dag == one.dag
        assert np.array_equal(flat(other.network.cpts), flat(one.network.cpts))
        assert other.completed == one.completed
        assert [s[::4] for s in other.trace] == [s[::4] for s in one.trace]


@pytest.mark.parametrize("seed", range(600, 615))
def test_weights_multiply_like_copies_of_rows(seed):
    case = random_case(seed)
    times = np.random.default_rng(seed).integers(1, 4, len(case.rows)).tolist()
    copies = [row for row, n in zip(case.rows, times, strict=True) for _ in range(n)]
    options = {"starts": ("empty", "mode"), "restarts": 0, "n_threads": 1}
    weighted = Case(case.network, case.rows, [float(n) for n in times])
    one = bm.learn_em(weighted.data, **options)
    two = bm.learn_em(Case(case.network, copies, None).data, **options)
    assert one.score == pytest.approx(two.score, abs=1e-6)


# --- what the user asks for -----------------------------------------------------------


@pytest.mark.parametrize("solver", ["auto", "subsets", "ilp", "order", "greedy"])
@pytest.mark.parametrize("hard", [False, True])
def test_constraints_are_kept_by_every_solver(solver, hard):
    data = asia_table(150).data
    rules = Constraints(
        required=[("asia", "xray"), ("xray", "smoke")],
        forbidden=[("lung", "either")],
        max_parents={"dysp": 1},
    )
    result = bm.learn_em(
        data,
        constraints=rules,
        max_parents=2,
        solver=solver,
        hard=hard,
        starts=("empty", "mode"),
        restarts=1,
        seed=1,
    )
    check(result, data)
    assert rules.rules(data.names, max_parents=2).holds(result.dag)


@pytest.mark.slow
def test_a_restart_of_many_variables_takes_seconds():
    card = [3] * 150
    rows = linked_rows(card, 200, seed=1)
    data = bm.hide_mcar(table_of(rows, card), 0.03, seed=1).data
    with within(10):  # it would take a minute to score all candidates
        result = bm.learn_em(data, starts=("empty",), restarts=1, seed=1, n_threads=1)
    assert [step.kind for step in result.trace].count("restart") >= 1


def test_required_arcs_hold_from_the_start():
    table = {"a": ["x", "y", "x", "y", None], "b": ["u", "u", "v", "v", "u"]}
    rules = Constraints(required=[("a", "b")])
    result = bm.learn_em(table, constraints=rules, starts=("empty",), restarts=0)
    assert result.dag.arcs == (("a", "b"),)
    assert {step.n_arcs for step in result.trace} == {1}


def test_many_variables_are_climbed_with_constraints():
    data = wide_table()
    rules = Constraints(required=[("v13", "v0")], tiers=[["v3"], ["v2"]])
    result = bm.learn_em(data, constraints=rules, restarts=1, seed=1)
    check(result, data)
    assert rules.rules(data.names, max_parents=3).holds(result.dag)


@pytest.mark.parametrize("solver", ["subsets", "ilp", "order", "greedy"])
def test_solvers_agree_where_all_are_exact(solver):
    data = asia_table(200).data
    options = {"starts": ("mode",), "restarts": 0, "seed": 1}
    exact = bm.learn_em(data, **options)
    result = bm.learn_em(data, solver=solver, **options)
    check(result, data)
    assert result.score == pytest.approx(exact.score, abs=0.5)


def test_a_solver_may_be_a_function():
    data, asked = asia_table(150).data, []

    def solver(candidates):
        asked.append(candidates.n_vars)
        return solve_order(candidates, seed=1)

    result = bm.learn_em(data, solver=solver, starts=("mode",), restarts=0)
    check(result, data)
    assert set(asked) == {8}


def test_max_parents_zero_gives_no_arcs():
    data = asia_table(100).data
    result = bm.learn_em(data, max_parents=0, restarts=1, seed=1)
    assert result.dag.n_arcs == 0
    for v, share in enumerate(result.network.cpts):
        holes = data.codes[:, v] == MISSING
        assert set(result.completed.codes[holes, v]) <= {share.argmax()}


# --- corners --------------------------------------------------------------------------


@pytest.mark.parametrize("hard", [False, True])
def test_one_variable_is_enough(hard):
    result = bm.learn_em({"a": ["x", None, "x", "y"]}, hard=hard)
    assert result.completed.to_table()["a"] == ["x", "x", "x", "y"]
    assert result.dag.n_arcs == 0


@pytest.mark.parametrize("hard", [False, True])
def test_nothing_observed_gives_the_first_states(hard):
    states = {"a": ("x", "y"), "b": ("u", "v", "w")}
    data = bm.IncompleteData.from_table(
        {"a": [None] * 5, "b": [None] * 5}, states=states
    )
    result = bm.learn_em(data, hard=hard, seed=1)
    check(result, data)
    assert result.log_likelihood == 0.0
    assert result.completed.is_complete


@pytest.mark.parametrize("hard", [False, True])
def test_rows_of_weight_zero_are_mended_and_say_nothing(hard):
    data = asia_table(60).data
    weights = np.ones(60)
    weights[:20] = 0
    light = bm.IncompleteData.from_codes(
        data.codes, names=data.names, states=data.states, weights=weights
    )
    rest = bm.IncompleteData.from_codes(
        np.asfortranarray(data.codes[20:]), names=data.names, states=data.states
    )
    options = {"hard": hard, "starts": ("empty", "mode"), "restarts": 0}
    one, two = bm.learn_em(light, **options), bm.learn_em(rest, **options)
    check(one, light)
    assert one.score == pytest.approx(two.score, abs=1e-6)


def test_constant_variables_and_unseen_states_are_no_trouble():
    states = {"a": ("x", "y"), "b": ("u", "v"), "c": ("only",)}
    table = {"a": ["x", None, "x"], "b": ["u", "v", None], "c": ["only", None, None]}
    data = bm.IncompleteData.from_table(table, states=states)
    for hard in (False, True):
        result = bm.learn_em(data, hard=hard, seed=1)
        check(result, data)
        assert result.completed.to_table()["c"] == ["only"] * 3
        assert all(cell.runner_up is None for cell in result.cells if cell[1] == "c")


def test_its_face_and_its_dictionary():
    result = bm.learn_em(asia_table(80).data, restarts=0, seed=1)
    assert repr(result).startswith("LearnResult(local optimum, score=-")
    told = json.loads(json.dumps(result.to_dict()))
    assert told["bound"] is None
    assert told["gap"] is None
    assert told["arcs"] == [list(arc) for arc in result.dag.arcs]
    assert len(told["trace"]) == len(result.trace)
    assert not result.is_optimal


# --- limits ---------------------------------------------------------------------------


@pytest.mark.parametrize("hard", [False, True])
def test_a_time_limit_is_kept(hard):
    data = asia_table(500).data
    with within(1.3):
        result = bm.learn_em(data, hard=hard, restarts=100_000, time_limit=0.3, seed=1)
    assert result.status == "stopped at time limit"
    check(result, data)


@pytest.mark.parametrize("hard", [False, True])
@pytest.mark.parametrize(
    "make",
    [
        lambda: asia_table(500).data,
        pytest.param(wide_table, marks=pytest.mark.slow),
    ],
)
def test_ctrl_c_returns_the_best_so_far(hard, make):
    data = make()
    with ctrl_c_after(0.4):
        result = bm.learn_em(data, hard=hard, restarts=100_000, seed=1)
    assert result.status == "stopped at interrupt"
    assert result.stopped == "interrupt"
    check(result, data)


def test_progress_is_told():
    told = []
    data = asia_table(100).data
    result = bm.learn_em(data, restarts=1, progress=lambda *news: told.append(news))
    assert told[0][0] == "structural EM (empty)"
    best = [news[1] for news in told]
    assert best == sorted(best)
    assert best[-1] == pytest.approx(result.score, abs=1e-6)


@pytest.mark.parametrize("hard", [False, True])
def test_too_few_steps_are_a_warning(hard):
    data = asia_table().data
    with pytest.warns(ConvergenceWarning, match="max_iter=1 .* Raise max_iter") as seen:
        bm.learn_em(data, hard=hard, starts=("empty",), restarts=0, max_iter=1)
    assert seen[0].filename == __file__


def test_enough_steps_are_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bm.learn_em(asia_table().data, restarts=1, seed=1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"starts": ()},
            "there is no start. Name at least one of empty, complete",
        ),
        ({"starts": "mode"}, "starts must be a tuple of names. Got 'mode'"),
        ({"starts": ("median",)}, "starts must be among empty, complete, mode, random"),
        ({"ess": -1.0}, "ess must be a number between 1e-06 and"),
        ({"tol": 0.0}, "tol must be a finite number > 0. Got 0.0"),
        ({"restarts": -1}, "restarts must be an integer >= 0. Got -1"),
        ({"max_iter": 0}, "max_iter must be an integer >= 1. Got 0"),
        ({"solver": "magic"}, "solver must be one of auto, .* greedy. Got 'magic'"),
        ({"time_limit": -1}, "time_limit must be a number of seconds > 0"),
        ({"score": "mdl"}, "score must be one of bdeu, .* Got 'mdl'"),
        ({"max_parents": -1}, "max_parents must be an integer >= 0. Got -1"),
        ({"n_threads": -2}, "n_threads must be an integer >= 0. Got -2"),
        ({"max_memory": -5}, "max_memory must be a number of bytes > 0"),
    ],
)
def test_wrong_parameters_are_errors(options, message):
    with pytest.raises(ParameterError, match=message):
        bm.learn_em({"a": ["x", None, "y"], "b": ["u", "v", "u"]}, **options)


def test_an_empty_table_is_an_error():
    data = bm.load_network("asia").sample(0, seed=1)
    with pytest.raises(DataError, match=r"0 rows and 8 variables, so there is nothing"):
        bm.learn_em(data)


# --- what exact inference cannot hold -------------------------------------------------


def test_structures_too_dense_for_the_memory_are_left_out():
    data = bm.hide_mcar(bm.load_network("asia").sample(500, seed=1), 0.4, seed=1).data
    found = bm.learn_em(data, seed=1, max_memory=200)
    assert "too dense" in found.detail["note"]
    assert found.completed.is_complete
    assert found.score < bm.learn_em(data, seed=1).score
    with pytest.raises(InferenceError, match="lower max_parents"):
        bm.learn_em(data, seed=1, max_memory=10)


def test_structures_that_were_left_out_keep_no_search_alive():
    data = bm.hide_mcar(bm.load_network("asia").sample(500, seed=1), 0.4, seed=1).data
    gc.collect()
    gc.disable()
    try:
        bm.learn_em(data, seed=1, max_memory=200)
        assert not any(isinstance(thing, Search) for thing in gc.get_objects())
    finally:
        gc.enable()


@pytest.mark.parametrize("hard", [False, True])
def test_any_time_limit_gives_a_network(hard):
    data = bm.hide_mcar(bm.load_network("asia").sample(500, seed=1), 0.4, seed=1).data
    found = bm.learn_em(data, hard=hard, seed=1, time_limit=1e-6)
    check(found, data)
    assert found.status == "stopped at time limit"


@pytest.mark.slow
def test_families_of_too_many_counts_are_passed_by():
    states = [str(i) for i in range(254)]
    table = {name: [None, "1", "2"] for name in "abcd"}
    data = bm.IncompleteData.from_table(table, states=dict.fromkeys("abcd", states))
    found = bm.learn_em(data, starts=("empty",), restarts=0, seed=1)
    assert all(254 ** (1 + len(parents)) <= 2**26 for parents in found.dag.parents)
    check(found, data)
