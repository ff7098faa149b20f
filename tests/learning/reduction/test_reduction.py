"""The reduction to complete data against enumeration of structures and completions."""

import itertools
import math
from functools import partial

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from support import oracle
from support.examples import examples
from support.pairs import pair_score
from support.strategies import incomplete_tables

from bayesmend import Dag, IncompleteData
from bayesmend.errors import DataError, ParameterError
from bayesmend.formats.jkl import read_jkl
from bayesmend.graph.constraints import Constraints
from bayesmend.learning import reduction as package
from bayesmend.learning.reduction import solve_reduction
from bayesmend.learning.reduction.assembly import distinct_names
from bayesmend.learning.reduction.variants import Scope, count_columns, variants_of
from bayesmend.outcome import Certificate
from bayesmend.score import FamilyScorer, Score
from bayesmend.structure import Solution, solve
from bayesmend.structure.candidates import candidate_parents, candidates_from

KINDS = st.sampled_from(["bdeu", "bic", "k2", "qnml"])
# Of every reduction here, and of its twins.
SUPPORT = 0.1
best_pair = partial(oracle.best_pair, support=SUPPORT)
oracle_reduction = partial(oracle.reduction, support=SUPPORT)


def reduce_to_complete(data, **options):
    if not isinstance(options.get("score"), Score):
        options["support"] = SUPPORT
    return package.reduce_to_complete(data, **options)


LIMITS = st.integers(0, 4)
SIZES = st.sampled_from([0.5, 1.0, 10.0])


def make_data(rows, card, **options):
    codes = np.array([[255 if c is None else c for c in row] for row in rows], np.uint8)
    return IncompleteData.from_codes(
        codes.reshape(len(rows), len(card)),
        names=[f"v{i}" for i in range(len(card))],
        states=[tuple(f"s{k}" for k in range(r)) for r in card],
        **options,
    )


def n_variables(rows, card):
    return len(card) + sum(card[i] for _, i in oracle.missing_cells(rows))


def as_triples(reduction):
    """Candidates with artificial variables as (row, variable, state) triples."""
    sets, name = reduction.parent_sets, list(range(reduction.data.n_vars))
    for row, variable in reduction.cells.tolist():
        name += [(row, variable, j) for j in range(reduction.data.card[variable])]
    return {
        name[i]: {frozenset(name[p] for p in members): s for s, members in sets.of(i)}
        for i in range(sets.n_vars)
    }


def assert_same_candidates(found, expected, penalty):
    assert found.keys() == expected.keys()
    for variable, candidates in expected.items():
        assert found[variable].keys() == candidates.keys()
        for members, score in candidates.items():
            value = -penalty if score is None else score
            assert found[variable][members] == pytest.approx(value, abs=1e-9)


def fill(rows, card, generator):
    return [
        [
            int(generator.integers(card[i])) if c is None else c
            for i, c in enumerate(row)
        ]
        for row in rows
    ]


# The optimum.


@pytest.mark.slow
@examples(400)
@given(incomplete_tables(), LIMITS, KINDS, SIZES)
def test_the_best_graph_is_the_best_pair(table, max_parents, kind, ess):
    rows, card = table
    best, _, _ = best_pair(rows, card, max_parents, kind, ess)
    data = make_data(rows, card)
    reduction = reduce_to_complete(
        data,
        score=Score(kind, ess=ess, support=SUPPORT),
        max_parents=max_parents,
        n_threads=1,
    )
    result = solve_reduction(reduction, solver="subsets", n_threads=1)
    assert result.status == "optimal"
    assert result.score == pytest.approx(best, abs=1e-8)
    check_pair(data, result, Score(kind, ess=ess, support=SUPPORT), max_parents)


def check_pair(data, result, rule, max_parents):
    is_seen = ~data.missing_mask
    assert result.completed.is_complete
    assert (result.completed.codes[is_seen] == data.codes[is_seen]).all()
    assert max(map(len, result.dag.parents)) <= max_parents
    again = pair_score(data, result.dag, result.completed, rule)
    assert again == pytest.approx(result.score, abs=1e-8)


@examples(12)
@given(incomplete_tables(max_vars=4, max_total=30), KINDS)
def test_integer_programming_finds_the_best_pair_where_variables_are_many(table, kind):
    rows, card = table
    assume(n_variables(rows, card) > 14)
    best, _, _ = best_pair(rows, card, 2, kind)
    reduction = reduce_to_complete(make_data(rows, card), score=kind, max_parents=2)
    result = solve_reduction(reduction, solver="ilp", seed=1)
    assert result.status == "optimal"
    assert result.score == pytest.approx(best, abs=1e-5)


@examples(40)
@given(incomplete_tables(max_vars=3, size=64), KINDS, st.sampled_from([-3.0, 0.7]))
def test_scores_of_any_sign_keep_the_gadgets_working(table, kind, arc_penalty):
    rows, card = table
    rule = Score(kind, arc_penalty=arc_penalty, support=SUPPORT)
    best, _, _ = best_pair(rows, card, 2, kind, penalty=arc_penalty)
    reduction = reduce_to_complete(make_data(rows, card), score=rule, max_parents=2)
    result = solve_reduction(reduction, solver="subsets")
    assert result.score == pytest.approx(best, abs=1e-8)


@examples(40)
@given(incomplete_tables(max_vars=3, size=64), KINDS, st.integers(0, 2**32))
def test_weights_count(table, kind, seed):
    rows, card = table
    weights = np.random.default_rng(seed).integers(0, 7, len(rows)) / 2
    best, _, _ = best_pair(rows, card, 2, kind, weights=weights.tolist())
    data = make_data(rows, card, weights=weights)
    result = solve_reduction(reduce_to_complete(data, score=kind, max_parents=2))
    assert result.score == pytest.approx(best, abs=1e-8)


@examples(60)
@given(incomplete_tables(max_vars=4, size=64), KINDS, st.integers(0, 2**32))
def test_constraints_hold_and_the_rest_is_the_best(table, kind, seed):
    rows, card = table
    generator = np.random.default_rng(seed)
    must, must_not = random_arcs(len(card), generator)
    limit = {"v0": int(generator.integers(len(must[0]), 4))}

    def allowed(child, parents):
        within = child != 0 or len(parents) <= limit["v0"]
        return (
            within
            and must[child] <= set(parents)
            and not must_not[child] & set(parents)
        )

    n_others = len(card) - 1
    choices = [
        (n_others - len(must[c]) - len(must_not[c]), len(must[c]))
        for c in range(len(card))
    ]
    best, _, _ = best_pair(rows, card, 3, kind, allowed=allowed, choices=choices)
    constraints = Constraints(
        required=[(f"v{p}", f"v{c}") for c in range(len(card)) for p in must[c]],
        forbidden=[(f"v{p}", f"v{c}") for c in range(len(card)) for p in must_not[c]],
        max_parents=limit,
    )
    reduction = reduce_to_complete(
        make_data(rows, card), score=kind, constraints=constraints
    )
    result = solve_reduction(reduction)
    assert result.score == pytest.approx(best, abs=1e-8)
    assert all(map(allowed, range(len(card)), result.dag.parents))


def random_arcs(n_vars, generator):
    """Sets of required parents, along an order, and of forbidden ones."""
    order = generator.permutation(n_vars).tolist()
    must, must_not = [set() for _ in order], [set() for _ in order]
    for a, b in itertools.combinations(order, 2):
        draw = generator.random()
        if draw < 0.3:
            must[b].add(a)
        elif draw < 0.6:
            must_not[b].add(a)
    return must, must_not


# The transformation itself.


@examples(60)
@given(incomplete_tables(max_vars=4, size=32), LIMITS, KINDS)
def test_all_candidates_are_those_of_the_paper(table, max_parents, kind):
    rows, card = table
    reduction = reduce_to_complete(
        make_data(rows, card), score=kind, max_parents=max_parents, prune=False
    )
    expected = oracle_reduction(rows, card, max_parents, kind)
    assert_same_candidates(as_triples(reduction), expected, reduction.penalty)
    n_gadgets = 2 * (n_variables(rows, card) - len(card))
    assert reduction.parent_sets.n_sets == reduction.n_columns + n_gadgets


def test_the_gadget_of_the_papers_example():
    data = make_data([[0, 0, 0], [None, 1, 1], [2, 0, 1]], [3, 2, 2])
    reduction = reduce_to_complete(data, max_parents=2)
    sets = reduction.parent_sets
    first, second, third = "row 1: v0 = s0", "row 1: v0 = s1", "row 1: v0 = s2"
    assert sets.names == ("v0", "v1", "v2", first, second, third)
    assert [sets.of(i) for i in (3, 4, 5)] == [
        [(0.0, (0, 1, 2, 4)), (-reduction.penalty, ())],
        [(0.0, (0, 1, 2, 5)), (-reduction.penalty, ())],
        [(0.0, (0, 1, 2, 3)), (-reduction.penalty, ())],
    ]


def test_the_transformed_problem_has_the_best_pair_by_plain_recursion():
    rows, card = [[0, 0], [1, 1], [1, None], [None, 0]], [2, 3]
    best, _, _ = best_pair(rows, card, 1, "bdeu")
    reduction = reduce_to_complete(make_data(rows, card), max_parents=1)
    sets = reduction.parent_sets
    families = [
        {frozenset(members): score for score, members in sets.of(i)}
        for i in range(sets.n_vars)
    ]
    score, _ = oracle.best_dag(sets.n_vars, families)
    assert score == pytest.approx(best - 2 * reduction.penalty, abs=1e-9)


@examples(60)
@given(incomplete_tables(max_vars=4, size=64), KINDS, st.sampled_from([-3.0, 0.0]))
def test_lambda_outweighs_every_choice_of_the_original_variables(
    table, kind, arc_penalty
):
    rows, card = table
    reduction = reduce_to_complete(
        make_data(rows, card),
        score=Score(kind, arc_penalty=arc_penalty, support=SUPPORT),
    )
    scores = [
        [score for score, _ in reduction.parent_sets.of(i)] for i in range(len(card))
    ]
    assert reduction.penalty > sum(max(own) - min(own) for own in scores)


@examples(60)
@given(incomplete_tables(max_vars=4, size=64), LIMITS, KINDS)
def test_pruning_loses_nothing_and_keeps_no_dominated_candidate(
    table, max_parents, kind
):
    rows, card = table
    data = make_data(rows, card)
    full, pruned = (
        reduce_to_complete(data, score=kind, max_parents=max_parents, prune=prune)
        for prune in (False, True)
    )
    everything, kept = as_triples(full), as_triples(pruned)
    for variable in range(len(card)):
        own = everything[variable]
        best_inside = {
            a: max((own[b] for b in own if b < a), default=-math.inf) for a in own
        }
        expected = {a for a in own if own[a] > best_inside[a] + 1e-11 * abs(own[a])}
        assert kept[variable].keys() == expected
    one, two = (solve_reduction(r, solver="subsets") for r in (full, pruned))
    assert one.score == pytest.approx(two.score, abs=1e-9)


@examples(60)
@given(incomplete_tables(max_vars=4, size=64), LIMITS, KINDS, st.integers(0, 2**32))
def test_under_one_completion_it_is_the_plain_problem(table, max_parents, kind, seed):
    rows, card = table
    data = make_data(rows, card)
    reduction = reduce_to_complete(data, score=kind, max_parents=max_parents)
    filled = fill(rows, card, np.random.default_rng(seed))
    completed = make_data(filled, card)
    rule = Score(kind, support=SUPPORT)
    scorer = FamilyScorer.completed(data, completed, score=rule, n_threads=1)
    rules = Constraints().rules(data.names, max_parents=max_parents)
    plain = candidates_from(scorer, rules, search="all")
    restricted = reduction.restrict(completed)
    for i in range(len(card)):
        mine, theirs = (dict(map(reversed, s.of(i))) for s in (restricted, plain))
        assert mine == pytest.approx(theirs, abs=1e-9)


def test_complete_data_give_the_plain_problem():
    data = make_data([[0, 1], [1, 0], [1, 1]], [2, 2])
    reduction = reduce_to_complete(data, max_parents=1)
    assert reduction.parent_sets == candidate_parents(data, max_parents=1)
    result = solve_reduction(reduction)
    assert result.completed == data
    assert reduction.n_cells == 0


def test_a_table_without_rows_is_no_trouble():
    no_rows = IncompleteData.from_codes(
        np.zeros((0, 1), np.uint8), names=["a"], states=[("x", "y")]
    )
    assert solve_reduction(reduce_to_complete(no_rows)).score == 0.0


def test_a_missing_cell_with_a_single_state_needs_no_gadget():
    data = make_data([[None, 0], [0, None], [0, 1]], [1, 2])
    reduction = reduce_to_complete(data)
    assert reduction.cells.tolist() == [[1, 1]]
    assert reduction.parent_sets.n_vars == 4
    assert solve_reduction(reduction).completed.is_complete


def test_identical_rows_have_cells_of_their_own():
    reduction = reduce_to_complete(make_data([[0, None], [0, None], [1, 0]], [2, 2]))
    assert reduction.cells.tolist() == [[0, 1], [1, 1]]
    assert reduction.parent_sets.n_vars == 6


@examples(30)
@given(incomplete_tables(max_vars=4, size=64))
def test_the_result_does_not_depend_on_the_number_of_threads(table):
    data = make_data(*table)
    one, four = (reduce_to_complete(data, n_threads=n).parent_sets for n in (1, 4))
    assert one == four


# Locality.


@examples(80)
@given(
    incomplete_tables(max_vars=4, size=32),
    st.integers(0, 4),
    LIMITS,
    KINDS,
    st.integers(0, 2**32),
)
def test_locality_keeps_exactly_the_ball_inside_each_family(
    table, locality, max_parents, kind, seed
):
    rows, card = table
    base = fill(rows, card, np.random.default_rng(seed))
    reduction = reduce_to_complete(
        make_data(rows, card),
        score=kind,
        max_parents=max_parents,
        completion=make_data(base, card),
        locality=locality,
        prune=False,
    )
    expected = oracle_reduction(rows, card, max_parents, kind, near=(base, locality))
    assert_same_candidates(as_triples(reduction), expected, reduction.penalty)
    n_gadgets = 2 * (n_variables(rows, card) - len(card))
    assert reduction.parent_sets.n_sets == reduction.n_columns + n_gadgets


@examples(80)
@given(
    incomplete_tables(max_vars=4, size=64),
    st.integers(0, 3),
    KINDS,
    st.integers(0, 2**32),
)
def test_the_best_local_pair_is_found_and_is_no_worse_than_the_ball(
    table, locality, kind, seed
):
    rows, card = table
    base = fill(rows, card, np.random.default_rng(seed))
    data = make_data(rows, card)
    reduction = reduce_to_complete(
        data,
        score=kind,
        max_parents=2,
        completion=make_data(base, card).codes,
        locality=locality,
    )
    result = solve_reduction(reduction, solver="subsets")
    best, _, _ = best_pair(rows, card, 2, kind, near=(base, locality))
    ball = list(oracle.completions_within(rows, card, base, locality))
    in_ball, _, _ = best_pair(rows, card, 2, kind, completed_tables=ball)
    assert result.score == pytest.approx(best, abs=1e-8)
    assert result.score >= in_ball - 1e-8


@given(st.integers(1, 4), st.integers(0, 5), st.integers(0, 6))
def test_variants_are_distinct_and_sorted_by_changes(card, n_cells, locality):
    base = np.arange(n_cells, dtype=np.uint8) % card
    rows = (np.arange(n_cells),)
    scope = Scope(np.array([card], np.int32), rows, (base,), locality)
    variants = variants_of(scope, 0)
    expected = [
        states
        for states in itertools.product(range(card), repeat=n_cells)
        if sum(a != b for a, b in zip(states, base.tolist(), strict=True)) <= locality
    ]
    assert sorted(map(tuple, variants.codes.tolist())) == expected
    assert (np.diff(variants.changes) >= 0).all()
    assert ((variants.codes != base).sum(axis=1) == variants.changes).all()
    assert variants.n_within.tolist() == [
        int((variants.changes <= s).sum()) for s in range(locality + 1)
    ]


# There and back.


@examples(80)
@given(incomplete_tables(max_vars=4, size=64), KINDS, st.integers(0, 2**32))
def test_what_is_encoded_decodes_to_the_same_completion_and_no_less_score(
    table, kind, seed
):
    rows, card = table
    generator = np.random.default_rng(seed)
    data = make_data(rows, card)
    dag = random_dag(data.names, generator)
    completed = data.with_codes(make_data(fill(rows, card, generator), card).codes)
    full, pruned = (
        reduce_to_complete(data, score=kind, prune=prune) for prune in (False, True)
    )
    again = full.decode(full.encode(dag, completed))
    score = pair_score(data, dag, completed, Score(kind, support=SUPPORT))
    assert (again.dag, again.completed) == (dag, completed)
    assert again.score == pytest.approx(score, abs=1e-8)
    cheaper = pruned.decode(pruned.encode(dag, completed))
    assert cheaper.completed == completed
    assert set(cheaper.dag.arcs) <= set(dag.arcs)
    assert cheaper.score >= score - 1e-8


def random_dag(names, generator):
    order = generator.permutation(len(names)).tolist()
    arcs = [a for a in itertools.combinations(order, 2) if generator.random() < 0.5]
    return Dag.from_arcs(names, [a for a in arcs if a])


SMALL = [[0, 0, 0], [0, 0, 1], [1, 1, 1], [1, None, 1], [None, 0, 0]]


@pytest.fixture
def small():
    return reduce_to_complete(make_data(SMALL, [2, 2, 2]), max_parents=2)


def test_decoding_takes_a_solution_a_dag_and_any_order_of_the_variables(small):
    solution = solve(small.parent_sets)
    expected = small.decode(solution)
    names = list(reversed(small.parent_sets.names))
    shuffled = Dag.from_arcs(names, solution.dag.arcs)
    assert small.decode(solution.dag) == expected == small.decode(shuffled)
    paid = small.n_cells * small.penalty
    assert expected.score == pytest.approx(solution.score + paid)


def test_a_graph_that_leaves_two_states_is_refused(small):
    best = solve(small.parent_sets).dag
    first = int(small.first[0])
    parents = list(best.parents)
    parents[first] = parents[first + 1] = ()
    with pytest.raises(ParameterError, match="'v0' in row 4 with the states s0, s1"):
        small.decode(Dag(best.names, tuple(parents)))


def test_a_graph_over_other_variables_is_refused(small):
    with pytest.raises(ParameterError, match=r"must have the 7 variables .* Got 1 "):
        small.decode(Dag(("a",), ((),)))


def test_a_graph_with_a_family_that_is_no_candidate_is_refused(small):
    parents = [() for _ in small.parent_sets.names]
    with pytest.raises(ParameterError, match="parents of 'v0' in the DAG"):
        small.decode(Dag(small.parent_sets.names, tuple(parents)))


def test_encoding_outside_the_ball_is_refused():
    data = make_data(SMALL, [2, 2, 2])
    base = np.minimum(data.codes, 1)
    reduction = reduce_to_complete(data, completion=base, locality=0)
    other = data.with_codes(np.where(data.missing_mask, 0, data.codes).astype(np.uint8))
    empty = Dag.from_arcs(data.names, [])
    with pytest.raises(
        ParameterError, match="no candidate for 'v0' within its parents"
    ):
        reduction.encode(empty, other)
    with pytest.raises(
        ParameterError, match="the variables of the data, in their order"
    ):
        reduction.encode(Dag(("a",), ((),)), data.with_codes(base))


# Files and other solvers.


def test_a_jkl_file_reads_back_and_its_solution_decodes(small, tmp_path):
    path = tmp_path / "scores.jkl"
    small.write_jkl(path)
    sets = read_jkl(path)
    assert sets.names == small.file_names
    assert sets.names[3] == "row_4:_v0_=_s0"
    for field in ("offsets", "scores", "member_offsets", "members"):
        assert np.array_equal(getattr(sets, field), getattr(small.parent_sets, field))
    assert small.decode(solve(sets)) == small.decode(solve(small.parent_sets))


def test_names_stay_distinct_whatever_the_labels_say(tmp_path):
    data = IncompleteData.from_codes(
        np.array([[255, 255, 0], [0, 1, 1], [1, 0, 1]], np.uint8),
        names=["a", "a = b", "row 0: a = b = c"],
        states=[("b = c", "b  c"), ("c", "b c"), ("x", "\t")],
    )
    reduction = reduce_to_complete(data, max_parents=1)
    names = reduction.parent_sets.names
    assert len(set(names)) == 7
    assert names[:3] == data.names
    assert names[3] == "row 0: a = b = c(2)"
    reduction.write_jkl(tmp_path / "odd.jkl")
    assert read_jkl(tmp_path / "odd.jkl").names == reduction.file_names


@given(st.lists(st.text("a(2)", max_size=5)), st.sets(st.text("a(2)", max_size=5)))
def test_distinct_names_are_distinct_and_change_only_what_they_must(names, taken):
    result = distinct_names(names, taken=taken)
    assert len({*result, *taken}) == len(result) + len(taken)
    for i, name in enumerate(names):
        if name not in taken and name not in names[:i]:
            assert result[i] == name


def test_a_callable_solves_it(small):
    def by_recursion(sets):
        families = [
            {frozenset(members): score for score, members in sets.of(i)}
            for i in range(sets.n_vars)
        ]
        _, parents = oracle.best_dag(sets.n_vars, families)
        return [parents[i] for i in range(sets.n_vars)]

    result = solve_reduction(small, solver=by_recursion)
    exact = solve_reduction(small)
    assert result.solver == "by_recursion"
    assert result.score == pytest.approx(exact.score)
    assert result.status == "heuristic"
    assert result.bound >= exact.score


def test_a_callable_that_proves_its_answer_is_believed(small):
    result = solve_reduction(small, solver=lambda sets: solve(sets, solver="subsets"))
    assert result.status == "optimal"
    assert result.gap == 0.0


def test_a_callable_that_returns_a_poor_graph_is_refused(small):
    def poor(sets):
        return [sets.of(i)[-1][1] if i >= 3 else sets.of(i)[0][1] for i in range(7)]

    with pytest.raises(ParameterError, match="not a best one"):
        solve_reduction(small, solver=lambda sets: lonely(sets, poor))


def lonely(sets, poor):
    """The families of `poor`, but original variables keep artificial parents only."""
    parents = poor(sets)
    for i in range(3):
        parents[i] = next(m for _, m in sets.of(i) if all(p >= 3 for p in m))
    return parents


@pytest.mark.parametrize("solver", ["auto", "subsets", "ilp", "order"])
def test_every_solver_gives_a_pair_and_a_true_bound(small, solver):
    best, _, _ = best_pair(SMALL, [2, 2, 2], 2, "bdeu")
    result = solve_reduction(small, solver=solver, seed=1)
    assert result.score <= best + 1e-6
    assert result.bound >= best - 1e-6
    check_pair(small.data, result, Score("bdeu", support=SUPPORT), 2)


def test_an_answer_worse_than_the_start_gives_way_to_it(small, monkeypatch):
    def stopped(sets, **_):
        return Solution(
            dag=lowest(sets),
            score=-1e9,
            bound=0.0,
            certificate=Certificate.BOUNDED,
            solver="subsets",
        )

    def lowest(sets):
        parents = lonely(sets, lambda s: [()] * s.n_vars)
        return Dag(sets.names, tuple(map(tuple, parents)))

    monkeypatch.setattr("bayesmend.learning.reduction.solve.solve", stopped)
    result = solve_reduction(small, seed=1)
    assert result.certificate == "bounded"
    check_pair(small.data, result, Score("bdeu", support=SUPPORT), 2)


def test_progress_is_told_scores_without_penalties(small):
    told = []
    solve_reduction(
        small, solver="order", seed=1, progress=lambda *report: told.append(report)
    )
    assert all(best <= 0 for _, best, _ in told)
    assert repr(small) == (
        "Reduction(3 variables, 2 missing cells, 4 artificial variables, "
        f"{small.parent_sets.n_sets} candidates)"
    )


# Refusals.


def test_too_many_columns_are_counted_and_refused_before_any_is_made():
    data = make_data([[None] * 6 for _ in range(10)] + [[0] * 6, [1] * 6], [2] * 6)
    # 6 children, 2^10 completions a variable.
    n_columns = 6 * sum(math.comb(5, s) * 2 ** (10 * (s + 1)) for s in range(4))
    with pytest.raises(ParameterError) as caught:
        reduce_to_complete(data)
    message = str(caught.value)
    assert f"needs {n_columns:,} columns" in message
    for hint in ("method='exact'", "locality", "max_parents", "fewer cells missing"):
        assert hint in message


def test_a_number_of_columns_beyond_print_is_refused_too():
    data = make_data([[None, None] for _ in range(20000)], [2, 2])
    with pytest.raises(ParameterError, match=r"needs about 10\^12042 columns"):
        reduce_to_complete(data)


@given(
    st.lists(st.tuples(st.integers(2, 3), st.integers(0, 2)), min_size=1, max_size=5),
    st.integers(0, 4),
    st.one_of(st.none(), st.integers(0, 3)),
)
def test_columns_are_counted_without_listing_them(variables, max_parents, locality):
    card = np.array([r for r, _ in variables], np.int32)
    rows = tuple(np.arange(c) for _, c in variables)
    base = tuple(np.zeros(c, np.uint8) for _, c in variables)
    scope = Scope(card, rows)
    if locality is not None:
        scope = Scope(card, rows, base, locality)
    names = [f"v{i}" for i in range(len(card))]
    rules = Constraints().rules(names, max_parents=max_parents)
    expected = 0
    for child in range(len(card)):
        others = [v for v in range(len(card)) if v != child]
        for parents in oracle.subsets_up_to(others, max_parents):
            expected += n_near(variables, (child, *parents), locality)
    assert count_columns(scope, rules) == expected


def n_near(variables, family, locality):
    states = [range(variables[v][0]) for v in family for _ in range(variables[v][1])]
    most = len(states) if locality is None else locality
    return sum(sum(s != 0 for s in z) <= most for z in itertools.product(*states))


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"max_columns": 0}, "max_columns must be an integer >= 1. Got 0"),
        ({"max_parents": -1}, "max_parents must be an integer >= 0. Got -1"),
        ({"locality": 1}, "locality was given without completion"),
        ({"completion": np.zeros((5, 3), np.uint8)}, "without locality"),
        (
            {
                "completion": np.minimum(make_data(SMALL, [2] * 3).codes, 1),
                "locality": -1,
            },
            "locality must be an integer >= 0. Got -1",
        ),
        ({"completion": np.zeros((4, 3), np.uint8), "locality": 1}, "must have shape"),
        ({"score": "bdue"}, "score must be one of"),
    ],
)
def test_arguments_out_of_range_are_refused(options, problem):
    with pytest.raises(ParameterError, match=problem):
        reduce_to_complete(make_data(SMALL, [2, 2, 2]), **options)


def other_rows():
    return make_data([[0, 0, 0]], [2, 2, 2])


def other_states():
    return make_data([[0, 0, 0]] * 5, [2, 2, 3])


@pytest.mark.parametrize(
    ("completion", "problem"),
    [
        (np.zeros((5, 3), np.uint8), "'v2' in row 1 is 's0' where the data have 's1'"),
        (make_data(SMALL, [2, 2, 2]), "'v1' in row 3 is still missing"),
        (other_rows(), "must have the 5 rows of the data. Got 1"),
        (other_states(), "must have the variables and states of the data"),
    ],
)
def test_what_is_no_completion_is_refused(completion, problem):
    with pytest.raises(DataError, match=problem):
        reduce_to_complete(
            make_data(SMALL, [2, 2, 2]), completion=completion, locality=1
        )
