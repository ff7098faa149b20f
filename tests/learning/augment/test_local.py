"""t-local learning: certificates checked by enumeration, starts, solvers, margins."""

import itertools

import numpy as np
import pytest
from support import oracle
from support.pairs import pair_score
from support.strategies import holed_table, linked_rows, random_holes
from support.timing import ctrl_c_after, within

from bayesmend import Dag, learn_exact, learn_local, learn_structure
from bayesmend.data.table import IncompleteData
from bayesmend.errors import DataError, ParameterError
from bayesmend.graph.constraints import Constraints
from bayesmend.learning.augment.problem import PatternProblem
from bayesmend.learning.augment.starts import list_starts
from bayesmend.score import Score
from bayesmend.structure import Solution, solve_order

KINDS = ["bdeu", "bdeu", "k2", "bic", "aic", "qnml", "loglik"]
SUPPORTS = [0.0, 0.03, 0.1, 1.0]
PRIORS = [None, "fair", "uniform"]


class Instance:
    def __init__(self, seed, **options):
        self.rows, self.card = random_holes(seed, **options)
        self.rng = np.random.default_rng([seed, 1])
        self.kind = KINDS[self.rng.integers(len(KINDS))]
        self.ess = float(self.rng.choice([0.2, 1.0, 8.0]))
        self.max_parents = int(self.rng.integers(0, 5))
        self.support = SUPPORTS[seed % len(SUPPORTS)]
        self.prior = PRIORS[seed % len(PRIORS)]
        self.rule = Score(
            self.kind, ess=self.ess, prior=self.prior, support=self.support
        )
        self.data = holed_table(self.rows, self.card)

    def learn(self, **options):
        defaults = {"starts": ("random",), "restarts": 1, "seed": 0, "n_threads": 1}
        return learn_local(
            self.data,
            score=self.rule,
            max_parents=self.max_parents,
            **{**defaults, **options},
        )

    def best_of(self, completed_tables):
        score, _, _ = oracle.best_pair(
            self.rows,
            self.card,
            self.max_parents,
            self.kind,
            self.ess,
            support=self.support,
            prior=self.prior,
            completed_tables=completed_tables,
        )
        return score

    def ball(self, completed, t):
        """Completions in which up to t cells of patterns differ, row for row alike."""
        groups = {}
        for u, row in enumerate(self.rows):
            groups.setdefault(tuple(row), []).append(u)
        cells = [
            (rows, i)
            for row, rows in groups.items()
            for i, c in enumerate(row)
            if c is None
        ]
        for changed in oracle.subsets_up_to(cells, t):
            for states in itertools.product(*(range(self.card[i]) for _, i in changed)):
                table = [list(row) for row in completed]
                for (rows, i), state in zip(changed, states, strict=True):
                    for u in rows:
                        table[u][i] = state
                yield table

    def check_pair(self, result):
        seen = ~self.data.missing_mask
        assert result.completed.is_complete
        assert (result.completed.codes[seen] == self.data.codes[seen]).all()
        again = pair_score(self.data, result.dag, result.completed, self.rule)
        assert result.score == pytest.approx(again, abs=1e-8)
        assert max(map(len, result.dag.parents)) <= self.max_parents


def fill(instance):
    """A random completion."""
    draw = instance.rng.integers
    return [
        [
            int(draw(r)) if c is None else c
            for c, r in zip(row, instance.card, strict=True)
        ]
        for row in instance.rows
    ]


def hard_table(n_vars=7, n_rows=60, n_holes=30, seed=5):
    card = [2, 3, 2, 2, 2, 3, 2, 2][:n_vars]
    rows = linked_rows(card, n_rows, seed).tolist()
    rng = np.random.default_rng(seed)
    for k in rng.choice(n_rows * n_vars, n_holes, replace=False).tolist():
        rows[k // n_vars][k % n_vars] = None
    return holed_table(rows, card)


# Certificates.


@pytest.mark.parametrize("seed", range(70))
@pytest.mark.parametrize("locality", [1, 2, 3])
def test_no_pair_within_t_cells_is_better(locality, seed):
    instance = Instance(100 * locality + seed)
    result = instance.learn(locality=locality)
    instance.check_pair(result)
    assert result.locality == locality
    assert result.status == f"{locality}-local optimum"
    completed = result.completed.codes.tolist()
    best = instance.best_of(list(instance.ball(completed, locality)))
    assert result.score == pytest.approx(best, abs=1e-8)


@pytest.mark.parametrize("seed", range(500, 540))
def test_as_many_cells_as_there_are_make_it_the_optimum(seed):
    instance = Instance(seed)
    n_cells = len(oracle.missing_cells(instance.rows))
    result = instance.learn(locality=max(1, n_cells))
    best = instance.best_of(None)
    assert result.score == pytest.approx(best, abs=1e-6)


@pytest.mark.parametrize("seed", range(600, 650))
def test_exact_is_no_worse_than_local_and_local_no_worse_than_its_start(seed):
    instance = Instance(seed)
    start = fill(instance)
    codes = holed_table(start, instance.card).codes
    problem = PatternProblem.of(
        instance.data, score=instance.rule, max_parents=0, constraints=Constraints()
    )
    alike = problem.completed(problem.completion_of(instance.data.with_codes(codes)))
    first = instance.best_of([alike.codes.tolist()])
    local = instance.learn(starts=(), start=codes)
    optimum = learn_exact(
        instance.data,
        score=instance.rule,
        max_parents=instance.max_parents,
        n_threads=1,
    )
    assert local.trace[0].kind == "start"
    assert local.trace[0].score == pytest.approx(first, abs=1e-8)
    assert local.score >= first - 1e-9
    assert optimum.score >= local.score - 1e-6


def test_the_trace_climbs_to_the_score():
    result = learn_local(hard_table(), seed=1, locality=2)
    scores = [entry.score for entry in result.trace]
    assert scores == sorted(scores)
    assert scores[-1] == pytest.approx(result.score)
    assert {entry.kind for entry in result.trace} <= {
        "start",
        "structure",
        "completion",
        "flip",
    }


def test_complete_data_reduce_to_plain_structure_learning():
    data = holed_table(linked_rows([2, 3, 2, 4], 60, 1).tolist(), [2, 3, 2, 4])
    result = learn_local(data)
    assert result.score == pytest.approx(learn_structure(data).score)
    assert result.status == "optimal"
    assert result.detail["note"].startswith("no cell is missing")


@pytest.mark.parametrize("locality", [1, 2])
def test_the_number_of_threads_does_not_matter(locality):
    results = [
        learn_local(hard_table(), n_threads=n, seed=1, restarts=6, locality=locality)
        for n in (1, 2, 4)
    ]
    for result in results[1:]:
        assert result.dag == results[0].dag
        assert result.score == results[0].score
        assert (result.completed.codes == results[0].completed.codes).all()
        assert [e[:2] for e in result.trace] == [e[:2] for e in results[0].trace]


def test_threads_that_share_one_start_do_not_matter_either():
    rows = linked_rows([2] * 15, 40, 3).tolist()
    rng = np.random.default_rng(3)
    for u in range(0, 40, 4):
        rows[u][rng.integers(15)] = None
    data = holed_table(rows, [2] * 15)
    one, two = (
        learn_local(data, n_threads=n, seed=1, restarts=1, max_parents=2)
        for n in (1, 2)
    )
    assert (one.score, one.dag) == (two.score, two.dag)
    assert (one.completed.codes == two.completed.codes).all()
    assert one.locality == 1


@pytest.mark.parametrize("seed", range(700, 730))
def test_the_order_of_rows_does_not_matter_from_the_same_start(seed):
    instance = Instance(seed)
    order = instance.rng.permutation(len(instance.rows))
    turned = holed_table([instance.rows[u] for u in order], instance.card)
    options = {"score": instance.rule, "max_parents": instance.max_parents}
    options |= {"locality": 8, "starts": ("mode",), "n_threads": 1}
    one = learn_local(instance.data, **options)
    two = learn_local(turned, **options)
    # With a ball of all completions the result is the optimum, whatever the path.
    assert one.score == pytest.approx(two.score, abs=1e-6)


def test_constraints_hold():
    constraints = Constraints(
        required=[("v0", "v3")],
        forbidden=[("v1", "v2")],
        tiers=[["v0", "v1"], ["v5"]],
        max_parents={"v4": 1},
    )
    data = hard_table()
    rules = constraints.rules(data.names, max_parents=2)
    for solver in ("auto", "order", "greedy"):
        result = learn_local(
            data, constraints=constraints, max_parents=2, solver=solver, seed=1
        )
        assert rules.holds(result.dag)


# Starts.


def test_a_start_by_em_keeps_to_its_share_of_the_time():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, (3000, 60)).astype(np.uint8)
    repeated = rng.random((3000, 59)) < 0.6
    codes[:, 1:] = np.where(repeated, codes[:, :-1], codes[:, 1:])
    codes[rng.random(codes.shape) < 0.3] = 255
    data = IncompleteData.from_codes(
        codes, names=[f"v{i}" for i in range(60)], states=["abc"] * 60
    )
    with within(1.6):  # without a share, two seconds and more
        result = learn_local(
            data, starts=("em",), restarts=0, solver="greedy", time_limit=0.5, seed=1
        )
    assert result.completed.is_complete


@pytest.mark.parametrize("seed", range(800, 830))
def test_a_start_of_the_users_that_is_optimal_is_kept(seed):
    instance = Instance(seed)
    options = {"score": instance.rule, "max_parents": instance.max_parents}
    optimum = learn_exact(instance.data, n_threads=1, seed=0, **options)
    result = instance.learn(starts=(), start=optimum.completed)
    assert (result.completed.codes == optimum.completed.codes).all()
    assert result.score == pytest.approx(optimum.score, abs=1e-8)
    assert result.detail["starts"] == 1


@pytest.mark.parametrize("starts", [("mode",), ("em",), ("random",), ("em", "mode")])
def test_every_kind_of_start_leads_to_a_certified_pair(starts):
    result = learn_local(hard_table(), starts=starts, restarts=3, seed=2)
    assert result.status == "1-local optimum"
    assert result.completed.is_complete


def starts_of(data, starts, restarts=0, given=None, seed=0):
    problem = PatternProblem.of(
        data, score=Score("bdeu"), max_parents=2, constraints=Constraints()
    )
    found = list_starts(
        problem,
        restarts=restarts,
        starts=starts,
        given=given,
        generator=np.random.default_rng(seed),
    )
    return problem, found


def test_the_mode_is_the_most_frequent_state_seen():
    data = holed_table([[0, 1], [1, None], [1, 1], [None, 0]], [2, 2])
    problem, (mode,) = starts_of(data, ("mode",))
    assert problem.completed(mode).codes.tolist() == [[0, 1], [1, 1], [1, 1], [1, 0]]


def test_the_mode_counts_weights():
    rows = [[0, 1], [1, 0], [1, 0], [None, 0]]
    data = holed_table(rows, [2, 2], weights=[5.0, 1.0, 1.0, 1.0])
    problem, (mode,) = starts_of(data, ("mode",))
    assert problem.completed(mode).codes[3].tolist() == [0, 0]


def test_expectation_maximisation_follows_what_rows_have_in_common():
    """The mode of the second column is 0, but it copies the first."""
    rows = [[0, 0]] * 12 + [[1, 1]] * 8 + [[1, None]] * 2
    problem, (expected,) = starts_of(holed_table(rows, [2, 2]), ("em",))
    assert problem.completed(expected).codes[-1].tolist() == [1, 1]


def test_draws_differ_and_the_same_seed_gives_the_same():
    _, one = starts_of(hard_table(), ("random",), restarts=4, seed=1)
    _, two = starts_of(hard_table(), ("random",), restarts=4, seed=1)
    assert (one == two).all()
    assert len(np.unique(one, axis=0)) == 4


def test_equal_starts_are_tried_once():
    data = holed_table([[0, 0], [0, None], [0, 0]], [1, 2])
    problem, (mode,) = starts_of(data, ("mode",))
    _, found = starts_of(data, ("mode",), given=problem.completed(mode))
    assert len(found) == 1


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"locality": 0}, "locality must be an integer >= 1. Got 0"),
        ({"locality": 1.5}, "locality must be an integer >= 1. Got 1.5"),
        ({"locality": True}, "locality must be an integer >= 1. Got True"),
        ({"restarts": -1}, "restarts must be an integer >= 0. Got -1"),
        ({"starts": ("best",)}, "starts must be among mode, examples, em, random. Got"),
        ({"starts": "mode"}, "starts must be a tuple of names. Got 'mode'"),
        ({"starts": ()}, "there is no start. Name at least one of mode, examples, em"),
        ({"starts": ("random",), "restarts": 0}, "there is no start"),
        ({"solver": "magic"}, "Got 'magic'"),
        ({"time_limit": -1.0}, "time_limit must be a number of seconds > 0"),
        ({"max_parents": 1.5}, "max_parents must be an integer >= 0"),
        ({"n_threads": -2}, "n_threads must be an integer >= 0"),
        ({"score": "mdl"}, "Got 'mdl'"),
    ],
)
def test_arguments_out_of_range_are_refused(options, problem):
    with pytest.raises(ParameterError, match=problem):
        learn_local(holed_table([[0, None], [1, 1]], [2, 2]), **options)


def test_a_start_may_be_a_table_of_any_kind():
    data = IncompleteData.from_table({"a": ["x", "y", None, "y"], "b": [1, 2, 2, None]})
    start = {"a": ["x", "y", "x", "y"], "b": [1, 2, 2, 1]}
    codes = np.array([[0, 0], [1, 1], [0, 1], [1, 0]], np.uint8)
    labels = np.array(list(zip(*start.values(), strict=True)), dtype=object)
    expected = learn_local(data, start=codes, seed=1)
    for table in (start, labels, data.with_codes(codes)):
        found = learn_local(data, start=table, seed=1)
        assert found.trace[0].score == expected.trace[0].score
        assert found.completed == expected.completed


def test_a_start_that_is_no_completion_is_refused():
    data = holed_table([[0, None], [1, 1]], [2, 2])
    with pytest.raises(DataError, match="'v1' in row 0 is still missing"):
        learn_local(data, start=data.codes)
    with pytest.raises(DataError, match="'v0' in row 0 is 's1' where the data"):
        learn_local(data, start=np.array([[1, 0], [1, 1]], np.uint8))


def test_subsets_beyond_memory_are_refused():
    data = holed_table([[0] * 31, [None] * 31], [2] * 31)
    with pytest.raises(ParameterError, match="31 variables needs about"):
        learn_local(data, solver="subsets")


def test_fractional_weights_are_refused():
    data = holed_table([[0, None], [1, 1]], [2, 2], weights=[0.5, 2.0])
    with pytest.raises(DataError, match="row weights that are whole numbers"):
        learn_local(data)


# Other structure solvers.


def solve_mine(sets, **_options):
    return solve_order(sets, restarts=1, seed=0)


@pytest.mark.parametrize(
    "solver",
    [
        "order",
        "greedy",
        *(pytest.param(s, marks=pytest.mark.slow) for s in ("ilp", solve_mine)),
    ],
)
def test_alternating_with_any_solver_gives_a_consistent_pair(solver):
    data = hard_table()
    result = learn_local(data, solver=solver, restarts=1, seed=1)
    assert result.status == "local optimum"
    assert result.method == "local"
    assert result.bound == np.inf
    assert result.locality is None
    again = pair_score(data, result.dag, result.completed)
    assert result.score == pytest.approx(again)
    seen = ~data.missing_mask
    assert (result.completed.codes[seen] == data.codes[seen]).all()
    scores = [entry.score for entry in result.trace]
    assert scores == sorted(scores)
    assert scores[-1] == pytest.approx(result.score)
    # The structure is one that the solver finds for this completion, or better.
    again = learn_structure(result.completed, solver="subsets").score
    assert result.score <= again + 1e-8


def test_a_callable_may_return_a_dag():
    def none(sets, **_options):
        return Solution(dag=Dag.from_arcs(sets.names, []), score=0.0, solver="none")

    result = learn_local(hard_table(), solver=none, restarts=0)
    assert result.dag.n_arcs == 0


def test_more_variables_than_subsets_can_take_are_left_to_the_order_search():
    rows = linked_rows([2] * 24, 40, 3).tolist()
    for u in range(0, 40, 5):
        rows[u][u % 24] = None
    result = learn_local(
        holed_table(rows, [2] * 24), restarts=0, seed=1, max_parents=1, time_limit=2.0
    )
    assert result.status in ("local optimum", "stopped at time limit")
    assert result.completed.is_complete


# Margins.


@pytest.mark.parametrize("seed", range(900, 940))
def test_margins_are_what_one_cell_alone_would_cost(seed):
    instance = Instance(seed)
    result = instance.learn()
    codes = result.completed.codes
    for cell in result.cells:
        v = instance.data.index(cell.variable)
        labels = instance.data.states[v]
        assert labels[codes[cell.row, v]] == cell.state
        drops = {}
        for state, label in enumerate(labels):
            if label == cell.state:
                continue
            other = codes.copy()
            other[cell.row, v] = state
            table = instance.data.with_codes(other)
            drops[label] = result.score - pair_score(
                instance.data, result.dag, table, instance.rule
            )
        if not drops:
            assert (cell.margin, cell.runner_up) == (np.inf, None)
            continue
        assert cell.margin == pytest.approx(min(drops.values()), abs=1e-8)
        assert drops[cell.runner_up] == pytest.approx(cell.margin, abs=1e-8)


def test_cells_come_as_columns_and_as_text():
    rows = [[0, 0], [0, None], [1, 1], [1, 1], [None, 0]]
    cells = learn_local(holed_table(rows, [2, 2]), support=0).cells
    assert len(cells) == 2
    columns = cells.to_dict()
    assert list(columns) == ["row", "variable", "state", "margin", "runner_up"]
    assert columns["row"] == [1, 4]
    assert columns["variable"] == ["v1", "v0"]
    lines = cells.to_csv().splitlines()
    assert lines[0] == "row,variable,state,margin,runner_up"
    assert lines[1] == f"1,v1,{columns['state'][0]},{columns['margin'][0]},s1"


def test_a_cell_without_an_alternative_has_no_runner_up():
    cells = learn_local(holed_table([[0, 0], [None, 1]], [1, 2]), support=0).cells
    (cell,) = cells
    assert cell[:3] == (1, "v0", "s0")
    assert (cell.margin, cell.runner_up) == (np.inf, None)
    assert cells.to_csv().splitlines()[1] == "1,v0,s0,inf,"


def test_ctrl_c_at_a_start_that_takes_long_gives_the_first_answer():
    rng = np.random.default_rng(1)
    rows = np.where(rng.random((3000, 30)) < 0.2, None, rng.integers(0, 4, (3000, 30)))
    data = holed_table(rows.tolist(), [4] * 30)
    rules = Constraints(required=[(data.names[0], data.names[1])])
    with ctrl_c_after(0.05):
        found = learn_local(data, solver="greedy", constraints=rules, seed=1)
    assert found.status == "stopped at interrupt"
    assert found.dag.arcs == ((data.names[0], data.names[1]),)
    assert found.completed.n_missing == 0


@pytest.mark.parametrize("solver", ["order", "greedy"])
def test_a_search_that_has_settled_waits_for_no_limit(solver):
    rows, card = random_holes(3)
    with within(20.0):
        found = learn_local(
            holed_table(rows, card),
            solver=solver,
            starts=("mode",),
            restarts=0,
            time_limit=600.0,
            seed=1,
        )
    assert found.status == "local optimum"


def test_more_starts_than_there_is_time_for_are_not_drawn():
    data = IncompleteData.from_table({"a": ["x", "x", "y", None], "b": list("uvvv")})
    with within(1.5):
        found = learn_local(data, restarts=9_000_000, time_limit=0.5, seed=1)
    assert found.completed.n_missing == 0
