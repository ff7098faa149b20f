"""The proof of an exact answer as a file: cells, completion, and the tree of nodes."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesmend import _core
from bayesmend._clock import available_memory
from bayesmend._files import PathLike
from bayesmend.learning.augment.problem import PatternProblem
from bayesmend.proofs import MOST_BYTES, problem_of, write_no_proof, write_proof

__all__ = ["record_bytes", "write_joint_proof"]


def record_bytes(certificate: PathLike | None) -> float:
    """Return how many bytes of a proof are kept: none where none is wanted."""
    if certificate is None:
        return 0.0
    return min(MOST_BYTES, 0.25 * available_memory())


def write_joint_proof(
    path: PathLike,
    problem: PatternProblem,
    answer: _core.ExactResult,
    *,
    is_relaxed: bool = False,
) -> str:
    """Write the proof of an answer, or why there is none."""
    if is_relaxed:
        reason = (
            f"for {problem.data.n_vars} variables the bound is that of a relaxation "
            "of acyclic graphs, which cannot be checked yet."
        )
        return write_no_proof(path, reason)
    if problem.terms is not None:
        reason = "what an answer is worth under a mechanism cannot be checked yet."
        return write_no_proof(path, reason)
    if not answer.proof:
        reason = "the search was stopped before it had any bound."
        if np.isfinite(answer.bound):
            needed = answer.record_bytes / 1e6
            reason = f"it would have taken more than {needed:,.0f} MB, and was left."
        return write_no_proof(path, reason)
    names = problem.data.names
    first_row = np.zeros(problem.n_cells, np.intp)
    backwards = slice(None, None, -1)  # so that the first row comes last, and stays
    first_row[problem.cell[backwards]] = problem.rows[backwards]
    cells = [
        [row, names[v]]
        for row, v in zip(first_row.tolist(), problem.variable.tolist(), strict=True)
    ]
    content = {
        "problem": problem_of(problem.data, problem.score, problem.rules),
        "bound": answer.proven,
        "cells": cells,
        "completion": answer.completion.tolist(),
        "nodes": [_node(node) for node in answer.proof],
    }
    return write_proof(path, "joint", content)


def _node(node: _core.ProofNode) -> list[Any]:
    is_root = node.parent is None
    points = [
        [point.children, point.cells, point.values, point.steps]
        for point in node.points
    ]
    return [node.parent, node.cell, None if is_root else node.value, points]
