"""Multipliers that bound every acyclic choice: cuts and bounds against enumeration."""

import math

import numpy as np
import pytest
from hypothesis import given
from support import oracle
from support.examples import examples
from support.strategies import candidate_lists, random_lists

from bayesmend.structure import dual, solve
from bayesmend.structure.dual import find_multipliers
from bayesmend.structure.parents import ParentSets
from bayesmend.structure.problem import Problem


def problem_of(lists):
    names = [f"v{i}" for i in range(len(lists))]
    return Problem.from_parent_sets(ParentSets.from_lists(names, lists))


def top_of(problem):
    return math.fsum(problem.scores[problem.offsets[:-1]].tolist())


def prove(problem, bound, max_nodes=500):
    return find_multipliers(
        problem, top_of(problem) - bound, max_nodes=max_nodes, seconds=60.0
    )


def choices_of(problem, arcs, n):
    """The candidate of each variable in a graph; None where one is no candidate."""
    chosen = []
    for v in range(n):
        parents = sorted(a for a, b in arcs if b == v)
        for c in range(problem.offsets[v], problem.offsets[v + 1]):
            first, last = problem.member_offsets[c], problem.member_offsets[c + 1]
            if problem.members[first:last].tolist() == parents:
                chosen.append(c)
                break
        else:
            return None
    return chosen


@pytest.mark.parametrize("seed", range(12))
def test_every_acyclic_choice_keeps_every_cut(seed):
    problem = problem_of(random_lists(4, 7, 3, seed))
    best = solve(ParentSets.from_lists("abcd", random_lists(4, 7, 3, seed))).score
    found = prove(problem, best + 1e-6)
    for arcs in oracle.all_dags(4):
        chosen = choices_of(problem, arcs, 4)
        for cut in found.cuts if chosen else ():
            has = np.isin(cut.families, chosen)
            assert cut.coefficients[has].sum() >= cut.least


@given(candidate_lists())
@examples(40)
def test_the_optimum_is_proven_and_nothing_below_it(lists):
    problem = problem_of(lists)
    best = oracle.best_total(lists)
    assert prove(problem, best + 1e-6).failure is None
    assert prove(problem, best - 1e-3, max_nodes=50).failure is not None


@pytest.mark.parametrize("seed", range(6))
def test_with_few_cuts_it_takes_a_tree_that_is_whole(seed, monkeypatch):
    monkeypatch.setattr(dual, "_MAX_HALVES", 0)
    monkeypatch.setattr(dual, "_ROOT_ROUNDS", 1)
    monkeypatch.setattr(dual, "_NODE_ROUNDS", 1)
    lists = random_lists(7, 30, 3, seed)
    problem = problem_of(lists)
    sets = ParentSets.from_lists([f"v{i}" for i in range(7)], lists)
    found = prove(problem, solve(sets).score + 1e-6)
    assert found.failure is None
    children = [node.parent for node in found.nodes[1:]]
    assert children
    assert all(children.count(parent) == 2 for parent in children)


def test_a_tree_that_grows_too_large_is_given_up(monkeypatch):
    monkeypatch.setattr(dual, "_ROOT_ROUNDS", 1)
    monkeypatch.setattr(dual, "_NODE_ROUNDS", 1)
    lists = random_lists(7, 30, 3, 1)
    sets = ParentSets.from_lists([f"v{i}" for i in range(7)], lists)
    problem = problem_of(lists)
    found = prove(problem, solve(sets).score + 1e-6, max_nodes=3)
    assert found.failure == "its tree has more than 3 nodes"


def test_time_that_runs_out_is_told():
    problem = problem_of(random_lists(5, 10, 3, 0))
    found = find_multipliers(problem, 1e9, max_nodes=9, seconds=0.0)
    assert found.failure == "time ran out"
