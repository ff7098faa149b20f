"""Exact learning against enumeration of all structures with all completions."""

from functools import partial

import numpy as np
import pytest
from support import oracle
from support.instances import TOLERANCE, Instance, check_constrained, check_optimal
from support.pairs import pair_score
from support.strategies import holed_table, linked_rows, random_holes
from support.timing import within

from bayesmend import IncompleteData, _core, learn_exact, learn_structure
from bayesmend.errors import DataError, ParameterError
from bayesmend.learning.reduction import reduce_to_complete, solve_reduction

SLOW = pytest.mark.slow


def bound_in_blocks(monkeypatch, max_entries):
    """Cut the tables of families into blocks of at most so many entries."""
    options = partial(_core.ExactOptions, max_entries=max_entries)
    monkeypatch.setattr(_core, "ExactOptions", options)


def fix_arcs(monkeypatch, max_entries=1, race_nodes=1):
    """Let the search fix arcs from its second node on, where some are in doubt."""
    options = partial(
        _core.ExactOptions, max_entries=max_entries, race_nodes=race_nodes
    )
    monkeypatch.setattr(_core, "ExactOptions", options)


# The optimum.


@pytest.mark.parametrize(
    "block", [*range(2), *(pytest.param(k, marks=SLOW) for k in range(2, 20))]
)
def test_branch_and_bound_the_reduction_and_enumeration_agree(block):
    for seed in range(50 * block, 50 * (block + 1)):
        instance = Instance(seed, max_total=14)
        best = instance.best()
        check_optimal(instance, instance.learn(), best)
        reduction = reduce_to_complete(
            instance.data, score=instance.rule, max_parents=instance.max_parents
        )
        reduced = solve_reduction(reduction, n_threads=1)
        assert reduced.score == pytest.approx(best, abs=TOLERANCE)


@pytest.mark.parametrize(
    "block", [*range(2), *(pytest.param(k, marks=SLOW) for k in range(2, 6))]
)
def test_branch_and_bound_finds_the_optimum_of_up_to_eight_holes(block):
    for seed in range(2000 + 50 * block, 2050 + 50 * block):
        instance = Instance(seed)
        check_optimal(instance, instance.learn(), instance.best())


@pytest.mark.parametrize("max_entries", [1, 3, 8])
@pytest.mark.parametrize("seed", range(3000, 3050))
def test_bounds_in_blocks_lead_to_the_same_optimum(max_entries, monkeypatch, seed):
    bound_in_blocks(monkeypatch, max_entries)
    instance = Instance(seed)
    check_optimal(instance, instance.learn(), instance.best())


@pytest.mark.parametrize(
    "block", [*range(2), *(pytest.param(k, marks=SLOW) for k in range(2, 12))]
)
def test_fixing_arcs_leads_to_the_same_optimum(block, monkeypatch):
    fix_arcs(monkeypatch)
    for seed in range(3000 + 50 * block, 3050 + 50 * block):
        instance = Instance(seed)
        check_optimal(instance, instance.learn(), instance.best())


def test_fixing_arcs_makes_another_tree(monkeypatch):
    found = []
    for race_nodes in (1, 10**9):
        with monkeypatch.context() as patch:
            fix_arcs(patch, 64, race_nodes)
            found.append(learn_exact(hard_table(), seed=1, restarts=2))
    assert found[0].detail["nodes"] != found[1].detail["nodes"]
    assert found[0].is_optimal
    assert found[0].score == pytest.approx(found[1].score, abs=TOLERANCE)


def test_the_instances_are_of_every_kind():
    tables = [random_holes(seed) for seed in range(2000, 2500)]
    assert any(all(None in row for row in rows) for rows, _ in tables)
    assert any(1 in card for _, card in tables)
    assert any([None] * len(card) in rows for rows, card in tables)
    assert any(
        all(c is None for c in column)
        for rows, _ in tables
        for column in zip(*rows, strict=True)
    )
    assert any(
        sum(row == other for other in rows) > 1 and None in row
        for rows, _ in tables
        for row in rows
    )
    assert {len(oracle.missing_cells(rows)) for rows, _ in tables} >= set(range(1, 9))


@SLOW
def test_most_instances_that_need_branching_were_branched():
    results = [Instance(seed).learn() for seed in range(2000, 2300)]
    assert sum(result.detail["nodes"] > 1 for result in results) > 40


@SLOW
def test_rows_alike_may_be_completed_alike():
    """All cells on their own are no better than whole patterns (algorithms F2)."""
    n_repeated = 0
    for seed in range(4000, 4200):
        instance = Instance(seed)
        groups = {}
        for u, row in enumerate(instance.rows):
            groups.setdefault(tuple(row), []).append(u)
        alike = [
            done
            for done in oracle.completions(instance.rows, instance.card)
            if all(done[u] == done[us[0]] for us in groups.values() for u in us)
        ]
        n_repeated += any(None in row and len(us) > 1 for row, us in groups.items())
        best = instance.best(completed_tables=alike)
        assert best == pytest.approx(instance.best(), abs=1e-9)
    assert n_repeated > 25


# Bounds at any stop.


@pytest.mark.parametrize(
    ("max_entries", "race_nodes"),
    [(2, 256), (1, 2), pytest.param(4096, 256, marks=SLOW)],
)
def test_the_bound_holds_at_any_number_of_nodes(max_entries, race_nodes, monkeypatch):
    fix_arcs(monkeypatch, max_entries, race_nodes)
    n_stopped = 0
    for seed in range(5000, 5060):
        instance = Instance(seed)
        best = instance.best()
        for node_limit in (1, 2, 3, 9, 17):
            result = instance.learn(node_limit=node_limit)
            instance.check_pair(result)
            assert result.bound >= best - 1e-8
            n_stopped += result.stopped == "nodes"
            if result.status == "optimal":
                break
    assert n_stopped > 10


@pytest.mark.parametrize("seed", range(5200, 5250))
def test_the_bound_holds_at_any_time(seed):
    instance = Instance(seed)
    best = instance.best()
    for time_limit in (1e-9, 1e-4, 1e-3):
        result = instance.learn(time_limit=time_limit)
        instance.check_pair(result)
        assert result.bound >= best - TOLERANCE


def test_a_time_limit_is_kept_while_memory_fills(monkeypatch):
    limit = "bayesmend.learning.augment.problem._memory_limit"
    monkeypatch.setattr(limit, lambda: 1e10)
    names = [f"v{k}" for k in range(11)]  # tables of 4 GB, were they to be finished
    states = {name: [str(s) for s in range(30)] for name in names}
    table = {name: ["1", "0"] for name in names} | {"v0": [None, "0"]}
    with within(0.8):
        result = learn_exact(table, states=states, time_limit=0.1)
    assert result.stopped.value == "time"
    assert result.completed.is_complete


def test_a_gap_asked_for_holds():
    n_open = 0
    for seed in range(5300, 5350):
        instance = Instance(seed)
        best = instance.best()
        for gap in (0.01, 0.5, 5.0):
            result = instance.learn(gap=gap)
            instance.check_pair(result)
            assert result.bound >= best - 1e-8
            assert result.gap <= gap + 1e-9
            assert result.score + gap >= best - 1e-8
            assert result.detail["priced_root_bound"] >= best - 1e-8
            n_open += result.gap > 1e-6
    assert n_open > 10


def test_a_gap_is_put_into_words():
    rows, card = linked_rows([2] * 6, 40, 3).tolist(), [2] * 6
    rng = np.random.default_rng(0)
    for u in range(40):
        rows[u][rng.integers(6)] = None
    result = learn_exact(holed_table(rows, card), node_limit=1, restarts=0, seed=0)
    assert result.stopped == "nodes"
    assert f"gap {result.gap:.3g} nats (" in result.status
    assert not result.is_optimal


# Complete data, and tables at the edge.


@pytest.mark.parametrize("kind", ["bdeu", "k2", "bic", "aic"])
def test_complete_data_reduce_to_plain_structure_learning(kind):
    rows = linked_rows([2, 3, 2, 4, 2], 60, 1)
    data = holed_table(rows.tolist(), [2, 3, 2, 4, 2])
    result = learn_exact(data, score=kind)
    assert result.score == pytest.approx(learn_structure(data, score=kind).score)
    assert result.status == "optimal"
    assert result.detail["note"].startswith("no cell is missing")
    assert len(result.cells) == 0


def test_one_variable_is_enough():
    result = learn_exact(holed_table([[0], [None], [1], [0]], [2]))
    assert result.status == "optimal"
    assert [cell.state for cell in result.cells] == ["s0"]


def test_a_variable_never_seen_takes_its_declared_states():
    result = learn_exact(holed_table([[0, None], [1, None]], [2, 3]))
    assert result.status == "optimal"
    assert result.completed.is_complete


def test_a_table_of_holes_only_is_completed():
    rows = [[None, None]] * 3
    best, _, _ = oracle.best_pair(rows, [2, 2], 3, "bdeu", support=0.5)
    result = learn_exact(holed_table(rows, [2, 2]), support=0.5)
    assert result.score == pytest.approx(best, abs=TOLERANCE)


def test_a_table_without_rows_is_no_trouble():
    result = learn_exact(holed_table([], [2, 3]))
    assert (result.score, result.dag.n_arcs, len(result.cells)) == (0.0, 0, 0)


# What the result does not depend on.


@pytest.mark.parametrize("seed", range(6000, 6030))
def test_the_order_of_rows_and_variables_does_not_matter(seed):
    instance = Instance(seed)
    expected = instance.learn().score
    n_rows, n_vars = len(instance.rows), len(instance.card)
    rows = [instance.rows[u] for u in instance.rng.permutation(n_rows)]
    order = instance.rng.permutation(n_vars).tolist()
    turned = holed_table(
        [[row[i] for i in order] for row in rows], [instance.card[i] for i in order]
    )
    found = learn_exact(
        turned, score=instance.rule, max_parents=instance.max_parents, n_threads=1
    )
    assert found.score == pytest.approx(expected, abs=TOLERANCE)


def hard_table(n_vars=7, n_rows=60, n_holes=24, seed=5):
    card = [2, 3, 2, 2, 2, 3, 2, 2][:n_vars]
    rows = linked_rows(card, n_rows, seed).tolist()
    rng = np.random.default_rng(seed)
    for k in rng.choice(n_rows * n_vars, n_holes, replace=False).tolist():
        rows[k // n_vars][k % n_vars] = None
    return holed_table(rows, card)


@pytest.mark.parametrize(
    ("max_entries", "race_nodes"), [(16, 256), (16, 20), (4096, 256)]
)
def test_the_number_of_threads_does_not_matter(max_entries, race_nodes, monkeypatch):
    fix_arcs(monkeypatch, max_entries, race_nodes)
    results = [
        learn_exact(hard_table(), n_threads=n, seed=1, restarts=2, node_limit=120)
        for n in (1, 2, 4)
    ]
    assert results[0].detail["nodes"] > 8
    for result in results[1:]:
        assert result.dag == results[0].dag
        assert (result.completed.codes == results[0].completed.codes).all()
        assert result.score == results[0].score
        assert result.bound == results[0].bound
        assert result.detail["nodes"] == results[0].detail["nodes"]


# Constraints and weights.


@pytest.mark.parametrize("block", range(4))
def test_constraints_hold_and_the_rest_is_the_best(block):
    for seed in range(7000 + 25 * block, 7025 + 25 * block):
        check_constrained(Instance(seed))


@pytest.mark.parametrize("seed", range(8000, 8040))
def test_whole_weights_stand_for_repeated_rows(seed):
    instance = Instance(seed)
    weights = instance.rng.integers(1, 4, len(instance.rows))
    weighted = holed_table(instance.rows, instance.card, weights=weights.astype(float))
    repeated = [
        row
        for row, w in zip(instance.rows, weights.tolist(), strict=True)
        for _ in range(w)
    ]
    one, two = (
        learn_exact(data, score=instance.rule, max_parents=instance.max_parents, seed=1)
        for data in (weighted, holed_table(repeated, instance.card))
    )
    assert one.score == pytest.approx(two.score, abs=TOLERANCE)
    again = pair_score(weighted, one.dag, one.completed, instance.rule)
    assert one.score == pytest.approx(again, abs=1e-8)


def test_fractional_weights_are_refused():
    data = holed_table([[0, None], [1, 1]], [2, 2], weights=[0.5, 2.0])
    with pytest.raises(DataError, match="row weights that are whole numbers"):
        learn_exact(data)


# Errors.


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"gap": -1.0}, "gap must be a number of nats >= 0. Got -1.0"),
        ({"gap": float("nan")}, "gap must be a number of nats >= 0. Got nan"),
        ({"gap": "wide"}, "gap must be a number of nats >= 0. Got 'wide'"),
        ({"node_limit": 0}, "node_limit must be an integer >= 1. Got 0"),
        ({"node_limit": 1.5}, "node_limit must be an integer >= 1. Got 1.5"),
        ({"time_limit": 0.0}, "time_limit must be a number of seconds > 0. Got 0.0"),
        ({"locality": 0}, "locality must be an integer >= 1. Got 0"),
        ({"locality": True}, "locality must be an integer >= 1. Got True"),
        ({"restarts": -1}, "restarts must be an integer >= 0. Got -1"),
        ({"restarts": 2.0}, "restarts must be an integer >= 0. Got 2.0"),
        ({"max_parents": -1}, "max_parents must be an integer >= 0. Got -1"),
        ({"n_threads": -1}, "n_threads must be an integer >= 0. Got -1"),
        ({"score": "mdl"}, "Got 'mdl'"),
        ({"ess": 0.0}, "ess must be"),
        ({"support": -0.1}, "support must be a finite number >= 0. Got -0.1"),
    ],
)
def test_arguments_out_of_range_are_refused(options, problem):
    with pytest.raises(ParameterError, match=problem):
        learn_exact(holed_table([[0, None], [1, 1]], [2, 2]), **options)


def test_tables_beyond_memory_are_refused(monkeypatch):
    monkeypatch.setattr(
        "bayesmend.learning.augment.problem.available_memory", lambda: 1000.0
    )
    with pytest.raises(ParameterError, match=r"would need more than the .* MB"):
        learn_exact(hard_table())


def test_a_column_without_a_value_needs_declared_states():
    table = {"a": ["x", "y"], "b": [None, None]}
    with pytest.raises(DataError, match="'b'"):
        learn_exact(table, columns=["a", "b"])
    data = IncompleteData.from_table(table, states={"b": ["u", "v"]})
    assert learn_exact(data).status == "optimal"
