"""The front door for complete data: a table in, a network out."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import oracle
from support.examples import examples
from support.strategies import complete_tables, linked_rows, table_of
from support.timing import ctrl_c_after, within

from bayesmend import Constraints, Score, dag_score, learn_structure, load_network
from bayesmend.errors import DataError, ParameterError
from bayesmend.structure import StructureResult, learn, solve_subsets

KINDS = ("bdeu", "k2", "bic", "aic", "qnml", "loglik")
SOLVERS = ("auto", "subsets", "ilp", "order", "greedy", solve_subsets)


def ids(solver):
    return solver if isinstance(solver, str) else "callable"


@pytest.fixture(scope="module")
def asia():
    return load_network("asia").sample(500, seed=1)


@examples(40)
@given(
    complete_tables(max_vars=4, min_rows=1, max_rows=25),
    st.sampled_from(KINDS),
    st.sampled_from(["auto", "subsets", "ilp"]),
    st.integers(0, 3),
)
def test_exact_solvers_agree_with_all_dags(table, kind, solver, limit):
    rows, card = table
    n = len(card)
    scores = {
        (c, members): oracle.family_score(rows, card, c, members, kind)
        for c in range(n)
        for members in oracle.candidate_sets(n, c, limit)
    }
    best = oracle.best_dag_score(n, lambda c, ps: scores[c, ps], limit)
    data = table_of(rows, card)
    found = learn_structure(data, score=kind, solver=solver, max_parents=limit, seed=1)
    assert found.score == pytest.approx(best, abs=1e-6)
    assert found.status == "optimal"
    assert found.gap == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize(
    "solver",
    [
        *("auto", "ilp", "greedy"),
        *(
            pytest.param(s, marks=pytest.mark.slow)
            for s in SOLVERS
            if s not in ("auto", "ilp", "greedy")
        ),
    ],
    ids=ids,
)
@examples(12)
@given(draw=st.data())
def test_constraints_hold_in_every_result(solver, draw):
    n = 5
    card = [2, 3, 2, 2, 3]
    data = table_of(linked_rows(card, 60, seed=4), card)
    arcs = [(p, c) for p in range(n) for c in range(n) if p != c]
    required = draw.draw(st.sets(st.sampled_from([a for a in arcs if a[0] < a[1]])))
    required = {(p, c) for p, c in required if p >= c - 2}
    forbidden = draw.draw(st.sets(st.sampled_from(arcs))) - required
    known = Constraints(
        required=[(f"v{p}", f"v{c}") for p, c in required],
        forbidden=[(f"v{p}", f"v{c}") for p, c in forbidden],
        max_parents={"v4": 2},
    )
    found = learn_structure(data, solver=solver, constraints=known, seed=1)
    chosen = {(p, c) for c, ps in enumerate(found.dag.parents) for p in ps}
    assert required <= chosen
    assert not forbidden & chosen
    assert len(found.dag.parents[4]) <= 2
    again = dag_score(found.dag, data, constraints=known)
    assert found.score == pytest.approx(again)


@pytest.mark.parametrize("solver", SOLVERS, ids=ids)
def test_tiers_hold_in_every_result(solver, asia):
    tiers = [["smoke", "asia"], ["lung", "tub", "bronc"], ["either"], ["xray", "dysp"]]
    found = learn_structure(
        asia, solver=solver, constraints=Constraints(tiers=tiers), seed=1
    )
    tier = {name: t for t, names in enumerate(tiers) for name in names}
    assert all(tier[p] <= tier[c] for p, c in found.dag.arcs)


@pytest.mark.parametrize("solver", SOLVERS, ids=ids)
@pytest.mark.parametrize("kind", ["bdeu", "bic"])
def test_the_score_is_that_of_the_dag(solver, kind, asia):
    found = learn_structure(asia, solver=solver, score=kind, seed=1)
    assert found.score == pytest.approx(dag_score(found.dag, asia, score=kind))
    best = learn_structure(asia, solver="subsets", score=kind).score
    assert found.score <= best + 1e-6 <= found.bound + 2e-6


def test_weights_count_rows_again(asia):
    twice = asia.with_codes(asia.codes)
    object.__setattr__(twice, "weights", np.full(asia.n_rows, 2.0))
    double = table_of(np.repeat(asia.codes, 2, axis=0), asia.card.tolist())
    assert learn_structure(twice).score == pytest.approx(learn_structure(double).score)


def test_the_network_has_the_states_and_names_of_the_table(asia):
    found = learn_structure(asia)
    assert found.network.names == asia.names
    assert found.network.states == asia.states
    assert found.dag is found.network.dag
    assert all((cpt > 0).all() for cpt in found.network.cpts)


def test_a_frame_is_taken_as_it_is(asia):
    frame = asia.to_table()
    assert learn_structure(frame).score == pytest.approx(learn_structure(asia).score)


def test_the_equivalent_sample_size_counts_once(asia):
    by_name = learn_structure(asia, ess=10.0)
    by_rule = learn_structure(asia, score=Score(ess=10.0))
    assert by_name.score == by_rule.score
    assert by_name.network.is_close(by_rule.network)


def test_the_same_seed_gives_the_same_network(asia):
    one, two = (learn_structure(asia, solver="order", seed=5) for _ in range(2))
    assert one.dag == two.dag


@pytest.mark.parametrize("solver", ["auto", "order", "greedy"])
def test_the_same_answer_for_any_number_of_threads(solver, asia):
    first, *others = (
        learn_structure(asia, solver=solver, seed=5, n_threads=n) for n in (1, 4, 7)
    )
    assert all((o.dag, o.score) == (first.dag, first.score) for o in others)


def test_auto_says_what_it_chose(asia):
    found = learn_structure(asia)
    detail = found.detail
    assert found.chosen == "subsets: 8 variables"
    assert detail["candidates"] == "all"


def test_a_part_of_the_candidates_proves_nothing(asia):
    found = learn_structure(asia, max_sets=30)
    assert (found.status, found.bound) == ("heuristic", np.inf)
    assert (found.solver, found.detail["candidates"]) == ("order", "promising")
    named = learn_structure(asia, max_sets=30, solver="subsets")
    assert (named.status, named.detail["among_candidates"]) == ("heuristic", "optimal")


def test_order_search_is_no_worse_than_hill_climbing():
    card = [3] * 60
    data = table_of(linked_rows(card, 500, seed=2), card)
    climbed = learn_structure(data, solver="greedy", seed=1)
    assert climbed.solver == "greedy"
    found = learn_structure(data, solver="order", max_sets=200, time_limit=1, seed=1)
    assert found.score >= climbed.score - 1e-6


@pytest.mark.parametrize("solver", SOLVERS[:-1])
@pytest.mark.parametrize("limit", [1e-9, 0.05])
def test_a_tiny_time_limit_gives_an_answer_in_time(solver, limit):
    card = [3] * 24
    data = table_of(linked_rows(card, 20_000, seed=2), card)
    known = Constraints(required=[("v3", "v9")])
    with within(limit + 0.5):
        found = learn_structure(
            data, solver=solver, time_limit=limit, constraints=known, seed=1
        )
    assert 3 in found.dag.parents[9]
    again = dag_score(found.dag, data, constraints=known)
    assert found.score == pytest.approx(again)


def test_a_time_limit_is_kept_where_there_are_many_variables():
    card = [3] * 300
    data = table_of(linked_rows(card, 5000, seed=2), card)
    with within(1.5):
        found = learn_structure(data, time_limit=1.0, seed=1)
    assert found.score == pytest.approx(dag_score(found.dag, data))


@pytest.mark.parametrize("seconds", [0.05, 0.4, 1.0])
def test_ctrl_c_gives_the_best_so_far_in_every_phase(seconds):
    card = [3] * 120
    data = table_of(linked_rows(card, 10_000, seed=2), card)
    with ctrl_c_after(seconds):
        found = learn_structure(data, max_sets=3000, time_limit=30, seed=1)
    assert found.stopped == "interrupt"
    assert found.score == pytest.approx(dag_score(found.dag, data))


def test_progress_is_told_the_phases(asia):
    told = []
    learn_structure(asia, progress=lambda *x: told.append(x[0]))
    # On a busy machine the climb before them is told, too.
    assert "candidate parent sets" in told
    assert told[-1] == "subsets of 8 variables"


def test_a_result_becomes_plain_types(asia):
    found = learn_structure(asia, solver="greedy", seed=1)
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["bound"] is None
    assert plain["gap"] is None
    assert plain["arcs"] == [list(arc) for arc in found.dag.arcs]
    exact = learn_structure(asia).to_dict()
    assert exact["gap"] == 0.0
    assert list(exact) == [
        "score",
        "bound",
        "gap",
        "status",
        "certificate",
        "stopped",
        "chosen",
        "seconds",
        "arcs",
        "detail",
        "solver",
    ]


def test_a_result_is_one_line(asia):
    text = repr(learn_structure(asia))
    assert text.startswith("StructureResult(optimal, score=-")
    assert "\n" not in text


def test_a_table_without_rows_is_refused():
    with pytest.raises(DataError, match="the table has 0 rows and 2 variables"):
        learn_structure(table_of([], [2, 3]))


def test_constant_and_single_variables_are_no_exception():
    found = learn_structure(table_of([(0, 0), (0, 1)], [1, 2]))
    assert found.dag.n_arcs == 0
    assert learn_structure(table_of([(0,), (1,)], [2])).status == "optimal"


# --- messages -------------------------------------------------------------------------


def test_missing_cells_are_refused():
    data = table_of([(0, 1), (1, 255)], [2, 2])
    with pytest.raises(DataError, match="'v1' is missing in row 1, and learning a s"):
        learn_structure(data)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        (
            {"solver": "magic"},
            "solver must be one of auto, subsets, ilp, order, gre",
        ),
        ({"score": "mdl"}, "score must be one of bdeu"),
        ({"ess": -1.0}, "ess must be a number between 1e-06 and"),
        ({"max_parents": -1}, "max_parents must be an integer >= 0"),
        ({"max_sets": 0}, "max_sets must be an integer >= 1"),
        (
            {"max_sets": 9, "solver": "greedy"},
            "max_sets=9 has no part in solver='greedy', which climbs on the data",
        ),
        ({"time_limit": 0}, "time_limit must be a number of seconds > 0"),
        ({"seed": -1}, "seed must be an integer >= 0"),
        ({"n_threads": -1}, "n_threads must be an integer >= 0"),
        (
            {"constraints": Constraints(required=[("v0", "w")])},
            "required names 'w', which is no variable",
        ),
    ],
)
def test_arguments_out_of_range_are_refused(options, match):
    with pytest.raises(ParameterError, match=match):
        learn_structure(table_of([(0, 1)], [2, 2]), **options)


def test_the_result_is_the_public_one():
    assert learn.StructureResult is StructureResult
