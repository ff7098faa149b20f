"""Enumeration of all completions, the baseline of branch and bound."""

import numpy as np
import pytest

import bayesmend as bm
from bayesmend.graph import Constraints
from bayesmend.learning.augment.problem import PatternProblem
from bayesmend.score import Score


def holed(seed, n_rows, card, n_holes):
    rng = np.random.default_rng(seed)
    codes = np.column_stack([rng.integers(0, r, n_rows) for r in card]).astype(np.uint8)
    places = rng.choice(codes.size, n_holes, replace=False)
    codes.ravel()[places] = bm.data.MISSING
    return bm.IncompleteData.from_codes(
        codes,
        names=[f"v{k}" for k in range(len(card))],
        states=[tuple(range(r)) for r in card],
    )


def enumerate_all(data, *, seconds=0.0, n_threads=0, support=0.1):
    problem = PatternProblem.of(
        data,
        score=Score("bdeu", support=support),
        max_parents=3,
        constraints=Constraints(),
    )
    return problem, problem.augmenter().enumerate(seconds, n_threads)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("card", [(2, 2, 2), (3, 2, 4), (2, 3, 2, 2)])
def test_all_completions_are_seen_and_the_best_is_the_proven_one(seed, card):
    data = holed(seed, 12, card, 6)
    support = 0.1 * (seed % 3)
    problem, found = enumerate_all(data, support=support)
    n_completions = np.prod([card[v] for v in problem.variable.tolist()])
    assert found.is_complete
    assert found.n_completions == n_completions
    best = bm.learn_exact(data, seed=1, support=support)
    assert best.is_optimal
    assert found.score == pytest.approx(best.score, abs=1e-9)


def test_the_answer_does_not_depend_on_the_threads():
    data = holed(1, 30, (2, 3, 2, 2), 9)
    answers = [enumerate_all(data, n_threads=n)[1] for n in (1, 2, 3)]
    assert len({answer.score for answer in answers}) == 1
    assert len({answer.completion.tobytes() for answer in answers}) == 1


def test_a_limit_ends_it_early():
    data = holed(2, 60, (2, 2, 2, 2, 2), 40)
    _, found = enumerate_all(data, seconds=0.05)
    assert not found.is_complete
    assert found.n_completions >= 1


def test_without_a_hole_there_is_one_completion():
    data = holed(3, 20, (2, 2, 2), 0)
    _, found = enumerate_all(data)
    assert found.n_completions == 1
    assert found.score == pytest.approx(bm.learn_structure(data).score)
