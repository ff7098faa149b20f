"""Family scores against their textbook formulas."""

import itertools
import math
import sys

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import oracle
from support.examples import examples

from bayesmend import Dag, IncompleteData, _core
from bayesmend.errors import DataError, ParameterError
from bayesmend.graph import Constraints
from bayesmend.learning import reduce_to_complete
from bayesmend.score import (
    Families,
    FamilyScorer,
    Score,
    dag_score,
    family_counts,
    family_score,
    score_families,
)
from bayesmend.structure.candidates import candidates_from
from bayesmend.structure.greedy import climb_from

KINDS = ("bdeu", "bds", "k2", "bic", "aic", "qnml", "loglik")


def make_data(rows, card, weights=None):
    codes = np.array(rows, np.uint8).reshape(len(rows), len(card))
    names = [f"v{i}" for i in range(len(card))]
    return IncompleteData.from_codes(
        codes, names=names, states=[tuple(range(r)) for r in card], weights=weights
    )


@st.composite
def complete_tables(draw, max_vars=5, max_rows=40, max_states=5):
    card = draw(st.lists(st.integers(1, max_states), min_size=1, max_size=max_vars))
    # A low ceiling on the states that occur gives constant columns and unseen states.
    seen = [draw(st.integers(1, r)) for r in card]
    row = st.tuples(*(st.integers(0, s - 1) for s in seen))
    rows = draw(st.lists(row, max_size=max_rows))
    if rows and draw(st.booleans()):
        rows = rows + rows[: draw(st.integers(0, len(rows)))]
    return rows, card


@st.composite
def families(draw):
    rows, card = draw(complete_tables())
    order = draw(st.permutations(range(len(card))))
    n_parents = draw(st.integers(0, len(card) - 1))
    return rows, card, order[0], list(order[1 : 1 + n_parents])


@examples(300)
@given(families())
def test_counts_match_a_loop_over_the_rows(family):
    rows, card, child, parents = family
    data = make_data(rows, card)
    counts = family_counts(data, f"v{child}", [f"v{p}" for p in parents])
    assert counts.tolist() == oracle.family_counts(rows, card, child, parents)


@examples(500)
@given(
    families(),
    st.sampled_from(KINDS),
    st.floats(1e-3, 1e3),
    st.floats(-2.0, 5.0),
    st.sampled_from([None, "fair", "uniform"]),
)
def test_scores_match_their_formulas(family, kind, ess, penalty, prior):
    rows, card, child, parents = family
    rule = Score(kind, ess=ess, prior=prior, arc_penalty=penalty)
    found = family_score(
        make_data(rows, card), f"v{child}", [f"v{p}" for p in parents], score=rule
    )
    expected = oracle.family_score(
        rows, card, child, parents, kind, ess, penalty=penalty, prior=prior
    )
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-8)


@examples(300)
@given(families(), st.sampled_from(KINDS), st.data())
def test_weighted_scores_match_their_formulas(family, kind, draw):
    rows, card, child, parents = family
    weights = [draw.draw(st.floats(0.0, 3.0).map(lambda w: round(w, 3))) for _ in rows]
    data = make_data(rows, card, weights=np.array(weights))
    found = family_score(data, f"v{child}", [f"v{p}" for p in parents], score=kind)
    expected = oracle.family_score(rows, card, child, parents, kind, weights=weights)
    assert found == pytest.approx(expected, rel=1e-8, abs=1e-7)


@examples(100)
@given(complete_tables(max_vars=4), st.sampled_from(KINDS))
def test_a_batch_gives_each_family_its_own_score(table, kind):
    rows, card = table
    data = make_data(rows, card)
    batch = Families.up_to(len(card), 3)
    scores = score_families(data, batch, score=kind)
    for f, score in enumerate(scores):
        parents = batch.parents[batch.first_parent[f] : batch.first_parent[f + 1]]
        expected = oracle.family_score(
            rows, card, int(batch.child[f]), parents.tolist(), kind
        )
        assert score == pytest.approx(expected, rel=1e-9, abs=1e-8)


def test_families_up_to_a_size_are_all_different_and_complete():
    batch = Families.up_to(6, 2)
    seen = {
        (int(c), tuple(batch.parents[a:b]))
        for c, a, b in zip(
            batch.child, batch.first_parent[:-1], batch.first_parent[1:], strict=True
        )
    }
    assert len(seen) == len(batch) == 6 * (1 + 5 + 10)
    assert all(c not in parents for c, parents in seen)


@pytest.mark.parametrize(
    ("n_rows", "card"),
    [
        (3000, [2, 3, 4, 2, 5, 3, 2]),  # bit sets, and rows for the larger tables
        (40_000, [2, 4, 3, 2]),  # more than one block of rows
        (700, [20, 254, 17, 60, 33]),  # tables far larger than the data
        (129, [2] * 9),
    ],
)
@pytest.mark.parametrize(
    "kind",
    [
        *("bdeu", "bds", "qnml"),
        *(
            pytest.param(k, marks=pytest.mark.slow)
            for k in ("k2", "bic", "aic", "loglik")
        ),
    ],
)
def test_every_way_of_counting_matches_the_formula(n_rows, card, kind):
    rng = np.random.default_rng(len(card))
    rows = np.stack([rng.integers(0, r, n_rows) for r in card], axis=1)
    data = make_data(rows, card)
    batch = Families.up_to(len(card), 3)
    scores = score_families(data, batch, score=kind)
    listed = rows.tolist()
    for f in rng.choice(len(batch), 6, replace=False):
        parents = batch.parents[batch.first_parent[f] : batch.first_parent[f + 1]]
        if np.prod([card[p] for p in (batch.child[f], *parents)]) > 1e6:
            continue
        expected = oracle.family_score(
            listed, card, int(batch.child[f]), parents.tolist(), kind
        )
        assert scores[f] == pytest.approx(expected, rel=1e-9, abs=1e-7)


def test_very_large_tables_are_counted_by_sorting():
    rng = np.random.default_rng(5)
    card = [254] * 6
    rows = np.stack([rng.integers(0, 3, 60) for _ in card], axis=1)
    wide = make_data(rows, card)
    narrow = make_data(rows, [3] * 6)
    family = ("v0", ["v1", "v2", "v3", "v4", "v5"])
    assert family_score(wide, *family, score="loglik") == pytest.approx(
        family_score(narrow, *family, score="loglik")
    )
    weighted = make_data(rows, card, weights=np.ones(60))
    assert family_score(weighted, *family) == pytest.approx(family_score(wide, *family))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_same_bits_for_any_number_of_threads(kind, weighted):
    rng = np.random.default_rng(3)
    card = [2, 3, 4, 2, 5, 3, 2, 9, 30]
    rows = np.stack([rng.integers(0, r, 2500) for r in card], axis=1)
    data = make_data(rows, card, weights=rng.random(2500) if weighted else None)
    batch = Families.up_to(len(card), 3)
    first, *others = (
        score_families(data, batch, score=kind, n_threads=n).tobytes()
        for n in (1, 4, 7)
    )
    assert all(other == first for other in others)


@examples(200)
@given(complete_tables(max_vars=5, max_rows=20), st.floats(0.01, 100))
def test_bdeu_is_equal_within_an_equivalence_class(table, ess):
    rows, card = table
    data = make_data(rows, card)
    names = data.names
    chain = list(itertools.pairwise(names))
    forward = Dag.from_arcs(names, chain)
    backward = Dag.from_arcs(names, [(b, a) for a, b in chain])
    rule = Score("bdeu", ess=ess, prior="uniform")
    assert dag_score(forward, data, score=rule) == pytest.approx(
        dag_score(backward, data, score=rule), abs=1e-7
    )


@examples(50)
@given(complete_tables(max_vars=5, max_rows=20))
def test_qnml_is_equal_within_an_equivalence_class(table):
    rows, card = table
    data = make_data(rows, card)
    chain = list(itertools.pairwise(data.names))
    forward = Dag.from_arcs(data.names, chain)
    backward = Dag.from_arcs(data.names, [(b, a) for a, b in chain])
    assert dag_score(forward, data, score="qnml") == pytest.approx(
        dag_score(backward, data, score="qnml"), abs=1e-7
    )


@examples(200)
@given(families(), st.floats(-6, 12), st.sampled_from([None, 1e-3, 0.37, 1e4]))
def test_bdeu_is_right_to_nine_digits_for_any_ess(family, log_ess, weight):
    rows, card, child, parents = family
    ess = min(max(10.0**log_ess, 1e-6), 1e12)
    weights = None if weight is None else np.full(len(rows), weight)
    found = family_score(
        make_data(rows, card, weights),
        f"v{child}",
        [f"v{p}" for p in parents],
        score=Score("bdeu", ess=ess, prior="uniform"),
    )
    expected = exact_bdeu(rows, card, child, parents, ess, weight or 1.0)
    # A score near 0 is the difference of terms as large as n log n.
    n = 1 + len(rows) * (weight or 1.0)
    largest = n * math.log(n) * sys.float_info.epsilon
    assert found == pytest.approx(expected, rel=1e-9, abs=max(1e-12, 8 * largest))


def exact_bdeu(rows, card, child, parents, ess, weight):
    counts = oracle.family_counts(rows, card, child, parents)
    with mpmath.workdps(60):

        def rise(count, pseudo):
            return mpmath.loggamma(count + pseudo) - mpmath.loggamma(pseudo)

        given = mpmath.mpf(ess) / len(counts)
        score = mpmath.mpf(0)
        for row in counts:
            totals = [mpmath.mpf(weight) * int(count) for count in row]
            score += sum(rise(total, given / len(row)) for total in totals)
            score -= rise(sum(totals), given)
        return float(score)


@given(complete_tables())
def test_a_row_only_ever_lowers_bdeu(table):
    rows, card = table
    parents = [f"v{p}" for p in range(1, len(card))]
    scores = [
        family_score(make_data(rows[:n], card), "v0", parents)
        for n in range(len(rows) + 1)
    ]
    assert all(b <= a + 1e-9 for a, b in itertools.pairwise(scores))


def test_a_dag_is_matched_by_names_and_is_the_sum_of_its_families():
    rng = np.random.default_rng(0)
    data = make_data(rng.integers(0, 2, (50, 3)), [2, 2, 2])
    dag = Dag.from_arcs(["v2", "v0", "v1"], [("v2", "v0"), ("v1", "v0")])
    expected = (
        family_score(data, "v0", ["v1", "v2"])
        + family_score(data, "v1")
        + family_score(data, "v2")
    )
    assert dag_score(dag, data) == pytest.approx(expected)


@given(st.integers(1, 12), st.data())
def test_the_fair_prior_gives_each_size_the_same_share(n_optional, draw):
    """Summed over all sets of a size, exp(-cost) is the same for every size."""
    n_required = draw.draw(st.integers(0, 3))
    n = n_optional + n_required + 1
    data = make_data(np.zeros((0, n), int), [2] * n)
    known = Constraints(required=[(f"v{p}", "v0") for p in range(1, n_required + 1)])
    scorer = FamilyScorer(data, score="k2", constraints=known)
    for size in range(n_required, n):
        cost = -scorer.family("v0", [f"v{p}" for p in range(1, size + 1)])
        of_size = math.comb(n_optional, size - n_required)
        assert of_size * math.exp(-cost) == pytest.approx(1.0)


def test_scores_with_a_price_for_size_have_no_prior_unless_asked():
    data = make_data([[0, 1, 0], [1, 0, 0]], [2, 2, 2])
    for kind in KINDS:
        usual, fair, uniform = (
            family_score(data, "v0", ["v1"], score=kind, prior=prior)
            for prior in (None, "fair", "uniform")
        )
        assert fair == pytest.approx(uniform - math.log(2))
        assert usual == (fair if kind in ("bdeu", "bds", "k2") else uniform)


@examples(100)
@given(families(), st.integers(1, 3))
def test_bds_does_not_know_of_states_that_no_row_shows(family, more):
    rows, card, child, parents = family
    wider = [r + more if v in parents else r for v, r in enumerate(card)]
    names = [f"v{p}" for p in parents]
    one, two = (
        family_score(make_data(rows, c), f"v{child}", names, score="bds")
        for c in (card, wider)
    )
    assert one == pytest.approx(two, abs=1e-9)


def test_the_kernel_has_a_name():
    assert _core.bit_kernel() in {"avx512", "avx2", "popcnt", "portable"}


# Completed tables: what was missing before counts for the support.


@st.composite
def completed_families(draw):
    rows, card, child, parents = draw(families())
    hidden = draw(
        st.lists(
            st.tuples(*(st.booleans() for _ in card)),
            min_size=len(rows),
            max_size=len(rows),
        )
    )
    holed = [
        [None if h else c for c, h in zip(row, flags, strict=True)]
        for row, flags in zip(rows, hidden, strict=True)
    ]
    weights = draw(
        st.none() | st.lists(st.integers(0, 3), min_size=len(rows), max_size=len(rows))
    )
    return holed, rows, card, child, parents, weights


def scorer_of_completed(rows, completed, card, weights, rule):
    own = None if weights is None else np.array(weights, float)
    incomplete = [[255 if c is None else c for c in row] for row in rows]
    return FamilyScorer.completed(
        make_data(incomplete, card, own), make_data(completed, card, own), score=rule
    )


@examples(300)
@given(completed_families(), st.sampled_from(KINDS), st.sampled_from([0.0, 0.03, 1.0]))
def test_rows_in_cells_without_an_example_cost_the_support(family, kind, support):
    rows, completed, card, child, parents, weights = family
    rule = Score(kind, arc_penalty=0.3, support=support)
    scorer = scorer_of_completed(rows, completed, card, weights, rule)
    expected = oracle.supported_score(
        rows,
        completed,
        card,
        child,
        parents,
        kind,
        weights=weights,
        penalty=0.3,
        support=support,
    )
    found = scorer.family(f"v{child}", [f"v{p}" for p in parents])
    assert found == pytest.approx(expected, rel=1e-8, abs=1e-7)


@pytest.mark.parametrize("weighted", [False, True])
def test_support_of_tables_much_larger_than_the_data(weighted):
    rng = np.random.default_rng(3)
    card = [250, 250, 9, 4]
    completed = rng.integers(0, 4, (60, 4)).tolist()
    rows = [[None if rng.random() < 0.2 else c for c in row] for row in completed]
    weights = rng.integers(0, 3, 60).tolist() if weighted else None
    scorer = scorer_of_completed(rows, completed, card, weights, Score(support=2.0))
    plain = scorer_of_completed(rows, completed, card, weights, Score(support=0.0))
    lacking = oracle.unsupported(rows, completed, (0, 1, 2, 3), weights)
    family = "v3", ["v0", "v1", "v2"]
    assert lacking > 0
    assert plain.family(*family) - scorer.family(*family) == pytest.approx(2 * lacking)


@pytest.mark.slow
def test_support_of_configurations_beyond_counting():
    rng = np.random.default_rng(3)
    n_rows, card = 70_000, [250, 250, 250, 250]
    completed = rng.integers(0, 250, (n_rows, 4))
    completed[1::2] = completed[::2]  # half of the rows have an example
    completed[1::4, :3] = rng.integers(0, 250, (n_rows // 4, 3))
    rows = np.where(rng.random((n_rows, 4)) < 0.01, 255, completed)
    args = rows.tolist(), completed.tolist(), card, None
    scorer = scorer_of_completed(*args, Score(support=2.0))
    plain = scorer_of_completed(*args, Score(support=0.0))
    family = "v3", ["v0", "v1", "v2"]
    whole = (rows != 255).all(axis=1)
    shown = {tuple(row) for row in completed[whole].tolist()}
    lacking = sum(tuple(row) not in shown for row in completed[~whole].tolist())
    assert 0 < lacking < (~whole).sum()
    assert plain.family(*family) - scorer.family(*family) == pytest.approx(2 * lacking)


def test_candidates_and_climbing_pay_for_lacking_support():
    rng = np.random.default_rng(4)
    card = [3, 3, 2, 4]
    completed = rng.integers(0, card, (40, 4)).tolist()
    rows = [[None if rng.random() < 0.3 else c for c in row] for row in completed]
    rule = Score(support=0.7)
    scorer = scorer_of_completed(rows, completed, card, None, rule)
    rules = Constraints().rules(scorer.data.names, max_parents=3)
    sets = candidates_from(scorer, rules, search="all")
    for child in range(4):
        for found, parents in sets.of(child):
            expected = oracle.supported_score(
                rows, completed, card, child, parents, "bdeu", support=0.7
            )
            assert found == pytest.approx(expected)
    climbed = climb_from(scorer, rules, restarts=3, seed=1)
    assert climbed.score == pytest.approx(scorer.dag(climbed.dag))


def test_a_rule_and_options_of_its_own_do_not_go_together():
    assert Score.of("bic", support=0.5) == Score("bic", support=0.5)
    with pytest.raises(ParameterError, match=r"support=0\.5 goes with the name"):
        Score.of(Score("bic"), support=0.5)
    with pytest.raises(ParameterError, match="prior='fair' goes with the name"):
        Score.of(Score("bic"), prior="fair")


def test_missing_cells_are_refused_with_their_place():
    array = np.array([["a", "x"], ["b", None], ["b", "y"]], dtype=object)
    data = IncompleteData.from_table(array)
    with pytest.raises(DataError, match="variable 'x1' is missing in row 1"):
        FamilyScorer(data)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kind": "bge"}, "score must be one of bdeu, bds, k2, bic, aic, qnml, loglik"),
        ({"ess": 0.0}, r"ess must be a number between 1e-06 and 1e\+12. Got 0.0"),
        ({"ess": float("nan")}, "ess must be a number between"),
        ({"ess": 9e-7}, "ess must be a number between"),
        ({"ess": 5e-324}, "ess must be a number between"),
        ({"ess": 1.1e12}, "ess must be a number between"),
        ({"ess": 1e16}, "ess must be a number between"),
        ({"arc_penalty": float("inf")}, "arc_penalty must be a finite number"),
        ({"prior": "flat"}, "prior must be one of fair, uniform. Got 'flat'"),
        ({"support": -1.0}, "support must be a finite number >= 0. Got -1.0"),
    ],
)
def test_rules_outside_their_range_are_refused(arguments, message):
    with pytest.raises(ParameterError, match=message):
        Score(**arguments)


def test_families_that_make_no_sense_are_refused():
    data = make_data([[0, 1], [1, 0]], [2, 2])
    scorer = FamilyScorer(data)
    with pytest.raises(ParameterError, match="family 1 names a variable twice"):
        scorer.families(Families.from_pairs([(0, [1]), (1, [1])]))
    with pytest.raises(ParameterError, match="outside 0 to 1"):
        scorer.families(Families.from_pairs([(0, [2])]))
    with pytest.raises(ParameterError, match="'v0' names a variable twice"):
        scorer.family("v0", ["v1", "v1"])
    with pytest.raises(DataError, match="no variable named 'cogh'"):
        scorer.family("cogh")
    broken = Families(np.array([0], np.int32), np.array([0, 3]), np.zeros(1, np.int32))
    with pytest.raises(ParameterError, match="first_parent must rise"):
        scorer.families(broken)
    falling = Families(
        np.array([0, 1], np.int32), np.array([0, 2, 1]), np.array([1], np.int32)
    )
    with pytest.raises(ParameterError, match="first_parent must not fall"):
        scorer.families(falling)
    with pytest.raises(DataError, match="differ in the variables v1, w"):
        scorer.dag(Dag.from_arcs(["v0", "w"], []))


def test_a_count_table_beyond_memory_is_refused():
    data = make_data(np.zeros((1, 5), int), [254] * 5)
    with pytest.raises(ParameterError, match=r"cells\. Use fewer parents"):
        family_counts(data, "v0", ["v1", "v2", "v3", "v4"])


def test_threads_below_zero_are_refused():
    data = make_data([[0]], [2])
    with pytest.raises(ParameterError, match="n_threads must be an integer >= 0"):
        FamilyScorer(data, n_threads=-1)


@pytest.mark.parametrize("kind", ["k2", "bic", "aic", "qnml", "loglik"])
def test_a_sample_size_that_a_score_would_ignore_is_refused(kind):
    table, dag = {"a": ["x", "y"]}, Dag(("a",), ((),))
    with pytest.raises(
        ParameterError,
        match=f"ess=2 goes with score='bdeu' or score='bds'. Got '{kind}",
    ):
        dag_score(dag, table, score=kind, ess=2)
    with pytest.raises(ParameterError, match="ess=2 goes with score='bdeu'"):
        reduce_to_complete(table, score=kind, ess=2)


@examples(100)
@given(completed_families(), st.integers(0, 2**32))
def test_what_rows_show_is_the_same_for_every_completion(family, seed):
    rows, completed, card, child, parents, _ = family
    if not rows:
        return
    rng = np.random.default_rng(seed)
    other = [
        [
            int(rng.integers(r)) if c is None else c
            for c, r in zip(row, card, strict=True)
        ]
        for row in rows
    ]
    incomplete = make_data([[255 if c is None else c for c in r] for r in rows], card)
    rule, shown = Score(support=0.5), _core.ShownCells()
    for table in (completed, other, completed):
        scorer = FamilyScorer.completed(
            incomplete, make_data(table, card), score=rule, shown=shown
        )
        expected = oracle.supported_score(
            rows, table, card, child, parents, "bdeu", support=0.5
        )
        found = scorer.family(f"v{child}", [f"v{p}" for p in parents])
        assert found == pytest.approx(expected, rel=1e-8, abs=1e-7)
