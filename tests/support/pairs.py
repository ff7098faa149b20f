"""Pairs of a structure and a completion, scored apart from the search for them."""

from bayesmend.graph.constraints import Constraints
from bayesmend.score import FamilyScorer, Score


def pair_score(data, dag, completed, rule="bdeu", constraints=None):
    """Score of a structure on a completed table, with the support that `data` gives."""
    rules = Constraints.of(constraints).rules(data.names, max_parents=data.n_vars)
    scorer = FamilyScorer.completed(
        data, completed, score=Score.of(rule), choices=rules.choices, n_threads=1
    )
    return scorer.dag(dag)
