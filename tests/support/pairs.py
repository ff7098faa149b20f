"""Pairs of a structure and a completion, scored apart from the search for them."""

from bayesmend.score import FamilyScorer, Score


def pair_score(data, dag, completed, rule="bdeu"):
    """Score of a structure on a completed table, with the support that `data` gives."""
    rule = Score.of(rule)
    return FamilyScorer.completed(data, completed, score=rule, n_threads=1).dag(dag)
