"""Structure solvers: candidate parent sets in, a DAG with its score and bound out."""

from bayesmend.structure.candidates import candidate_parents
from bayesmend.structure.greedy import climb
from bayesmend.structure.ilp import solve_ilp
from bayesmend.structure.learn import StructureResult, learn_structure
from bayesmend.structure.order import solve_order
from bayesmend.structure.parents import ParentSets
from bayesmend.structure.posterior import (
    ArcProbability,
    StructurePosterior,
    posterior_memory,
    structure_posterior,
)
from bayesmend.structure.solution import Solution
from bayesmend.structure.solve import SOLVERS, Solver, choose_solver, solve
from bayesmend.structure.subsets import best_through, solve_subsets, subsets_memory

__all__ = [
    "SOLVERS",
    "ArcProbability",
    "ParentSets",
    "Solution",
    "Solver",
    "StructurePosterior",
    "StructureResult",
    "best_through",
    "candidate_parents",
    "choose_solver",
    "climb",
    "learn_structure",
    "posterior_memory",
    "solve",
    "solve_ilp",
    "solve_order",
    "solve_subsets",
    "structure_posterior",
    "subsets_memory",
]
