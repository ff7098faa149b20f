"""Structure solvers: candidate parent sets in, a DAG with its score and bound out."""

from bayesmend.structure.ilp import solve_ilp
from bayesmend.structure.solution import Solution

__all__ = ["Solution", "solve_ilp"]
