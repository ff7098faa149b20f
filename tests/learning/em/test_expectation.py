"""Expected counts and their scores, against every completion of every row."""

import functools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import oracle
from support.networks import Case, flat, random_case, random_cpts, random_dag
from support.strategies import labels_of, names_of

import bayesmend as bm
from bayesmend.graph.constraints import Constraints
from bayesmend.inference.engine import Engine
from bayesmend.learning.em.expectation import Table
from bayesmend.score import Families, Score
from bayesmend.structure.candidates import candidates_from
from bayesmend.structure.greedy import climb_from

SEEDS = st.integers(0, 2**32)


def scorer_of(case, score="loglik", ess=1.0, n_threads=1, support=0.0):
    table, holes = case.compiled(n_threads)
    rule = Score(score, ess=ess, support=support)
    return table.scorer(holes, flat(case.network.cpts), rule)


def expected_of(case, child, parents):
    """One table of expected counts, by enumeration."""
    rows, shares = oracle.expected_rows(*case.plain, case.rows, case.mass)
    return oracle.family_counts(rows, case.card, child, parents, shares)


def counts_of(case, scorer, child, parents):
    """The same from the core, which takes whole graphs: all others are parentless."""
    n_before = [len(parents) if v > child else 0 for v in range(len(case.card) + 1)]
    found = scorer.core.expected_counts(
        np.array(n_before, np.int64), np.array(parents, np.int32)
    )
    before = sum(case.card[:child])
    size = case.card[child] * math.prod(case.card[p] for p in parents)
    return found[before : before + size].reshape(-1, case.card[child])


def some_family(rng, n_vars, largest=4):
    child, *others = rng.permutation(n_vars).tolist()
    return child, tuple(others[: int(rng.integers(0, largest))])


# --- the expectation step -------------------------------------------------------------


@given(SEEDS)
def test_one_expectation_is_that_of_all_completions(seed):
    case = random_case(seed)
    _, holes = case.compiled()
    found = holes.expect(flat(case.network.cpts), 1)
    expected = [expected_of(case, i, p) for i, p in enumerate(case.network.dag.parents)]
    np.testing.assert_allclose(found.counts, flat(expected), atol=1e-9)
    exact = oracle.observed_log_likelihood(*case.plain, case.rows, case.mass)
    assert found.log_likelihood == pytest.approx(exact, abs=1e-8)


@given(SEEDS)
def test_expected_counts_add_up_to_the_weight_of_the_rows(seed):
    case = random_case(seed)
    _, holes = case.compiled()
    counts = holes.expect(flat(case.network.cpts), 1).counts
    assert counts.sum() == pytest.approx(case.network.n_vars * sum(case.mass))
    assert counts.min(initial=0) >= 0


# --- any set of variables -------------------------------------------------------------


@given(SEEDS)
def test_expected_counts_of_any_set_are_those_of_all_completions(seed):
    case, rng = random_case(seed, max_vars=5), np.random.default_rng([seed, 1])
    scorer = scorer_of(case)
    for _ in range(3):
        family = some_family(rng, case.network.n_vars, largest=5)
        found = counts_of(case, scorer, *family)
        np.testing.assert_allclose(found, expected_of(case, *family), atol=1e-9)


@given(SEEDS, st.sampled_from(["bdeu", "k2", "bic", "aic", "qnml", "loglik"]))
def test_scores_are_the_textbook_formulas_on_expected_counts(seed, kind):
    case, rng = random_case(seed), np.random.default_rng([seed, 1])
    ess = float(rng.choice([0.1, 1.0, 10.0]))
    scorer = scorer_of(case, kind, ess)
    rows, shares = oracle.expected_rows(*case.plain, case.rows, case.mass)
    for _ in range(3):
        child, parents = some_family(rng, case.network.n_vars)
        names = case.network.names
        found = scorer.family(names[child], [names[p] for p in parents])
        exact = oracle.family_score(rows, case.card, child, parents, kind, ess, shares)
        assert found == pytest.approx(exact, abs=1e-7)


@given(SEEDS, st.sampled_from([0.03, 1.0]))
def test_what_is_expected_without_an_example_costs_the_support(seed, support):
    case, rng = random_case(seed), np.random.default_rng([seed, 1])
    scorer, plain = scorer_of(case, support=support), scorer_of(case)
    counted = oracle.expected_rows(*case.plain, case.rows, case.mass)
    families = [some_family(rng, case.network.n_vars) for _ in range(3)]
    pairs = [[c, list(p)] for c, p in families]
    paid = plain.families(Families.from_pairs(pairs)) - scorer.families(
        Families.from_pairs(pairs)
    )
    names = case.network.names
    for family, price in zip(families, paid, strict=True):
        child, parents = family
        lack = oracle.expected_unsupported(
            case.rows, case.mass, *counted, (child, *parents)
        )
        assert price == pytest.approx(support * lack, abs=1e-7)
        by_name = names[child], [names[p] for p in parents]
        difference = plain.family(*by_name) - scorer.family(*by_name)
        assert difference == pytest.approx(support * lack, abs=1e-7)


@given(SEEDS)
def test_candidates_and_climbing_pay_for_what_is_expected_without_an_example(seed):
    case = random_case(seed)
    scorer = scorer_of(case, "bdeu", support=0.5)
    rules = Constraints().rules(case.network.names, max_parents=2)
    sets = candidates_from(scorer, rules, search="all")
    for child in range(case.network.n_vars):
        for found, parents in sets.of(child):
            pair = Families.from_pairs([(child, parents)])
            assert found == pytest.approx(scorer.families(pair)[0], abs=1e-7)
    climbed = climb_from(scorer, rules, restarts=2, seed=1)
    assert climbed.score == pytest.approx(scorer.dag(climbed.dag), abs=1e-7)


def chain(cards, rng, breaks=()):
    """Each variable hangs on the one before it, except after a break."""
    arcs = [(f"v{i - 1}", f"v{i}") for i in range(1, len(cards)) if i not in breaks]
    dag = bm.Dag.from_arcs(names_of(cards), arcs)
    cpts = tuple(
        rng.dirichlet(np.ones(r), cards[dag.parents[i][0]] if dag.parents[i] else 1)
        for i, r in enumerate(cards)
    )
    return bm.Network(dag, tuple(labels_of(cards)), cpts)


@pytest.mark.parametrize("card", [[3] * 8, [2] * 13, [5, 2, 4, 3, 2, 5, 4]])
def test_a_joint_table_too_large_to_keep_gives_the_same_counts(card):
    rng = np.random.default_rng(1)
    n = len(card)
    assert math.prod(card) > 4096
    case = Case(chain(card, rng), [[None] * n], [2.5])
    scorer = scorer_of(case)
    for family in [(0, ()), (n - 1, (0,)), (2, (n - 1, 0, 4)), (3, (5, 1, 4, 0, 2))]:
        found = counts_of(case, scorer, *family)
        np.testing.assert_allclose(found, expected_of(case, *family), atol=1e-9)


def branching(n_vars, rng):
    """Binary variables that hang on one or two of those before them, in any order."""
    order = rng.permutation(n_vars).tolist()
    arcs = [
        (f"v{order[parent]}", f"v{order[i]}")
        for i in range(1, n_vars)
        for parent in rng.permutation(i)[: rng.integers(1, 3)]
    ]
    dag = bm.Dag.from_arcs(names_of(range(n_vars)), arcs)
    card = [2] * n_vars
    return bm.Network(dag, tuple(labels_of(card)), random_cpts(rng, dag, card))


@pytest.mark.parametrize("seed", range(12))
def test_sets_from_several_branches_of_a_large_piece(seed):
    rng = np.random.default_rng(seed)
    network = branching(13, rng)
    case = Case(network, [[None] * 13], [1.5])
    scorer = scorer_of(case)
    rows, shares = oracle.expected_rows(*case.plain, case.rows, case.mass)
    for _ in range(12):  # one scorer for all: what it remembers must stay right
        child, parents = some_family(rng, 13)
        found = counts_of(case, scorer, child, parents)
        exact = oracle.family_counts(rows, case.card, child, parents, shares)
        np.testing.assert_allclose(found, exact, atol=1e-9)


def test_posteriors_that_do_not_fit_into_memory_are_computed_anew():
    rng = np.random.default_rng(1)
    network = branching(13, rng)
    rows = network.sample(20, seed=1).codes.tolist()
    rows = [[c if rng.random() < 0.1 else None for c in row] for row in rows]
    case = Case(network, rows, [1.0] * 20)
    _, holes = case.compiled(1)
    least = 8 * holes.size.total  # of one row; of what is kept, half is for all rows
    scorers = [
        Table.of(case.data, Engine(n_threads=1, max_memory=m)).scorer(
            holes, flat(network.cpts), Score.of("loglik")
        )
        for m in (2**30, least)
    ]
    for _ in range(12):
        family = some_family(rng, 13)
        plenty, little = (counts_of(case, scorer, *family) for scorer in scorers)
        np.testing.assert_allclose(little, plenty, atol=1e-12)


@pytest.mark.parametrize(
    "family",
    [
        (0, (2,)),  # one piece
        (0, (3,)),  # two pieces
        (4, (0, 3, 2, 6)),  # both, and a piece of its own
        (2, (6, 5, 1, 4, 0, 3)),  # all, in a strange order
    ],
)
def test_holes_of_one_piece_and_of_several_mix(family):
    rng = np.random.default_rng(2)
    network = chain([2, 3, 2, 2, 3, 2, 3], rng, breaks=(3, 5))
    rows = [
        [None, None, None, None, None, None, None],
        [None, 1, None, None, None, 1, None],  # what is observed cuts a piece in two
        [None, None, 0, 1, None, None, 2],
        [0, None, None, None, 2, None, None],
        [1, 2, 1, 0, 0, 1, 2],
    ]
    case = Case(network, rows, [1.0, 0.5, 3.0, 1.0, 0.25])
    found = counts_of(case, scorer_of(case), *family)
    np.testing.assert_allclose(found, expected_of(case, *family), atol=1e-9)


def test_two_pieces_with_five_members_each_do_not_mix_up():
    rng = np.random.default_rng(3)
    case = Case(chain([2] * 10, rng, breaks=(5,)), [[None] * 10], None)
    family = (9, (0, 5, 1, 6, 2, 7, 3, 8, 4))
    found = counts_of(case, scorer_of(case), *family)
    np.testing.assert_allclose(found, expected_of(case, *family), atol=1e-12)


def test_members_far_apart_in_pieces_of_hundreds():
    rng = np.random.default_rng(4)
    network = chain([2] * 600, rng, breaks=(300,))
    case = Case(network, [[None] * 600], None)
    found = counts_of(case, scorer_of(case), 290, (280, 590, 10, 580))
    expected = np.ones((1, 1))
    for first, *others in ((10, 280, 290), (580, 590)):
        joint = marginal_of(network, first)
        for a, b in zip([first, *others], others, strict=False):
            step = functools.reduce(np.matmul, network.cpts[a + 1 : b + 1])
            joint = joint[..., None] * step
        expected = np.multiply.outer(expected, joint)
    # Axes: 10, 280, 290, 580, 590; the first parent varies fastest, the child last.
    expected = expected[0, 0].transpose(3, 0, 4, 1, 2).reshape(16, 2)
    np.testing.assert_allclose(found, expected, atol=1e-12)


def marginal_of(network, variable):
    first = 0 if variable < 300 else 300
    share = network.cpts[first][0]
    for cpt in network.cpts[first + 1 : variable + 1]:
        share = share @ cpt
    return share


# --- threads, memory, messages --------------------------------------------------------


@pytest.fixture(scope="module")
def alarm_like():
    """Enough rows that every thread has work."""
    rng = np.random.default_rng(5)
    card = rng.integers(2, 4, 12).tolist()
    dag = random_dag(rng, 12, density=0.25)
    network = bm.Network(dag, tuple(labels_of(card)), random_cpts(rng, dag, card))
    data = bm.hide_mcar(network.sample(800, seed=1), 0.2, seed=1).data
    return network, data


@pytest.mark.parametrize("n_threads", [4, 7])
def test_threads_do_not_change_a_bit(alarm_like, n_threads):
    network, data = alarm_like
    answers = []
    for threads in (1, n_threads):
        table = Table.of(data, Engine(n_threads=threads))
        holes, _ = table.compile(network.dag)
        found = holes.expect(flat(network.cpts), threads)
        scorer = table.scorer(holes, flat(network.cpts), Score("bdeu"))
        families = bm.score.Families.up_to(12, 2)
        answers.append((found.counts, found.log_likelihood, scorer.families(families)))
    one, many = answers
    assert np.array_equal(one[0], many[0])
    assert one[1] == many[1]
    assert np.array_equal(one[2], many[2])


def test_a_set_with_too_many_cells_is_an_error():
    rng = np.random.default_rng(6)
    case = Case(chain([5] * 12, rng), [[None] * 12], None)
    with pytest.raises(ValueError, match=r"more than \d+ cells"):
        counts_of(case, scorer_of(case), 0, tuple(range(1, 12)))


def test_a_scorer_of_a_complete_table_expects_nothing():
    scorer = bm.score.FamilyScorer(bm.load_network("asia").sample(5, seed=1))
    nothing = (np.zeros(1, np.int64), np.zeros(0, np.int32))
    with pytest.raises(ValueError, match="counts a complete table"):
        scorer.core.expected_counts(*nothing)


def test_probabilities_must_fit_the_structure():
    _, holes = random_case(1).compiled()
    with pytest.raises(ValueError, match="one entry per cell of every table"):
        holes.expect(np.ones(3), 1)
