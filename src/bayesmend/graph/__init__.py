"""Directed acyclic graphs, their classes, distances, and what they must obey."""

from bayesmend.graph.confidence import ArcProbabilities
from bayesmend.graph.constraints import Constraints
from bayesmend.graph.cpdag import Cpdag
from bayesmend.graph.dag import Dag
from bayesmend.graph.difference import GraphDifference, compare_graphs
from bayesmend.graph.distance import (
    SkeletonScores,
    skeleton_scores,
    structural_hamming_distance,
)

__all__ = [
    "ArcProbabilities",
    "Constraints",
    "Cpdag",
    "Dag",
    "GraphDifference",
    "SkeletonScores",
    "compare_graphs",
    "skeleton_scores",
    "structural_hamming_distance",
]
