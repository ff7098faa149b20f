"""The reduction of incomplete data to an ordinary structure learning problem.

Every missing cell ``(u, i)`` brings one artificial variable per state. The artificial
variable of a state has two candidates: all original variables and the artificial
variable of the next state (in a ring), for nothing; or no parents, for ``-lambda``. A
ring cannot close, so at least one of its variables has no parents, and in the best
graph exactly one: the state of the cell. The others descend from every original
variable and can be parents of none. A family with its completion then is a parent set:
the parents, and the artificial variables of the states of all missing cells of the
family.

Symbols of the paper beside ours: ``r_i`` is ``card[i]``, ``lambda`` is ``penalty``,
``t`` is ``locality``, ``X_{(u,i),j}`` is the artificial variable of state ``j``. The
paper's ``1 + (j mod r_u)`` means ``r_i``.
"""

from __future__ import annotations

import math
import os
import re
from dataclasses import dataclass
from typing import Any, NamedTuple, Unpack

import numpy as np
from numpy.typing import NDArray

from bayesmend._checks import check_integer
from bayesmend._docs import documented
from bayesmend._entrance import entrance
from bayesmend._rows import offsets_of, owners_of
from bayesmend.data.reading import Reading
from bayesmend.data.table import IncompleteData
from bayesmend.errors import ParameterError
from bayesmend.formats.jkl import write_jkl
from bayesmend.graph.constraints import Constraints, ConstraintsLike
from bayesmend.graph.dag import Dag
from bayesmend.learning.completion import checked_completion
from bayesmend.learning.reduction.assembly import Layout, assemble, distinct_names
from bayesmend.learning.reduction.expansion import Expansion
from bayesmend.learning.reduction.variants import check_columns, count_columns, scope_of
from bayesmend.score import Prior, Score, require_convex, rule_for_scores
from bayesmend.structure.parents import ParentSets
from bayesmend.structure.solution import Solution

__all__ = ["Decoded", "Reduction", "reduce_to_complete"]


class Decoded(NamedTuple):
    """What a graph over original and artificial variables says.

    Parameters
    ----------
    dag : Dag
        The structure, over the original variables.
    completed : IncompleteData
        The table with every cell filled in.
    score : float
        Score of the structure on that table.
    """

    dag: Dag
    completed: IncompleteData
    score: float


@documented
@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Reduction:
    """An incomplete table as candidate parent sets that any solver can take.

    Make one with :func:`reduce_to_complete`.

    Parameters
    ----------
    data : IncompleteData
        The incomplete table.
    score : Score
        The rule.
    {parent_sets}
    cells : ndarray of shape (n_cells, 2)
        Row and variable of every missing cell that has a choice, by variable. A
        missing cell of a variable with a single state has no artificial variables.
    first : ndarray of shape (n_cells,)
        Index of the artificial variable of the first state of each cell; those of the
        other states follow.
    penalty : float
        What an artificial variable without parents costs (lambda in the paper).
    n_columns : int
        Number of parent sets with completions before pruning.
    completion : IncompleteData, optional
        The completion in hand, where not all are considered.
    locality : int, optional
        Largest number of changes to it inside a family.

    Examples
    --------
    >>> table = {"a": ["x", "x", "y", "y"], "b": ["u", "u", "v", None]}
    >>> reduction = reduce_to_complete(IncompleteData.from_table(table))
    >>> reduction
    Reduction(2 variables, 1 missing cell, 2 artificial variables, 9 candidates)
    >>> reduction.parent_sets.names
    ('a', 'b', 'row 3: b = u', 'row 3: b = v')
    """

    data: IncompleteData
    score: Score
    parent_sets: ParentSets
    cells: NDArray[np.intp]
    first: NDArray[np.intp]
    penalty: float
    n_columns: int
    completion: IncompleteData | None = None
    locality: int | None = None

    @property
    def n_cells(self) -> int:
        """Number of missing cells that have a choice."""
        return len(self.cells)

    @property
    def file_names(self) -> tuple[str, ...]:
        """Names of the variables in a ``.jkl`` file: distinct, without white space."""
        return distinct_names(
            re.sub(r"\s", "_", n) or "_" for n in self.parent_sets.names
        )

    def decode(self, answer: Dag | Solution) -> Decoded:
        """Read structure and completion off a graph over all variables.

        Parameters
        ----------
        answer : Dag or Solution
            Made of the candidates, under the names of `parent_sets` or `file_names`,
            in any order.

        Returns
        -------
        Decoded
            The triple (dag, completed, score).

        Raises
        ------
        ParameterError
            When the graph is not made of the candidates, or leaves a cell with more
            than one state, which no best graph does.

        Examples
        --------
        >>> from bayesmend.structure import solve
        >>> table = {"a": ["x", "x", "y", "y"], "b": ["u", "u", "v", None]}
        >>> reduction = reduce_to_complete(IncompleteData.from_table(table))
        >>> dag, completed, score = reduction.decode(solve(reduction.parent_sets))
        >>> completed.to_table()["b"], round(score, 3)
        (['u', 'u', 'v', 'v'], -5.504)
        """
        dag = self._in_order(answer.dag if isinstance(answer, Solution) else answer)
        chosen = self.parent_sets.choice_of(dag)[: self.data.n_vars]
        states = self._states(dag)
        codes = self.data.codes.copy(order="F")
        codes[self.data.missing_mask] = 0
        codes[self.cells[:, 0], self.cells[:, 1]] = states
        parents = tuple(
            tuple(p for p in members if p < self.data.n_vars)
            for members in dag.parents[: self.data.n_vars]
        )
        return Decoded(
            Dag(self.data.names, parents),
            self.data.with_codes(codes),
            math.fsum(self.parent_sets.scores[chosen].tolist()),
        )

    def encode(self, dag: Dag, completed: IncompleteData) -> Dag:
        """Write structure and completion as a graph over all variables.

        A family that was pruned gives way to a subset of its parents that scores at
        least as high.

        Parameters
        ----------
        dag : Dag
            A structure over the original variables.
        completed : IncompleteData
            The table with every cell filled in.
        """
        n_vars = self.data.n_vars
        if dag.names != self.data.names:
            msg = "the DAG must have the variables of the data, in their order."
            raise ParameterError(msg)
        on = self.chosen(completed)
        codes = completed.codes[self.cells[:, 0], self.cells[:, 1]]
        parents = [
            self._family(child, members, self.first + codes)
            for child, members in enumerate(dag.parents)
        ]
        following = self.parent_sets.members_of
        for variable in range(n_vars, self.parent_sets.n_vars):
            first = int(self.parent_sets.offsets[variable])
            parents.append(() if on[variable] else following(first))
        return Dag(self.parent_sets.names, tuple(parents))

    def chosen(self, completed: IncompleteData) -> NDArray[np.bool_]:
        """Mark the original variables and the artificial ones of a completion.

        Returns
        -------
        ndarray of shape (n_vars + n_artificial,)
            True for the variables that may be parents under the completion.
        """
        codes = checked_completion(self.data, completed).codes
        on = np.zeros(self.parent_sets.n_vars, dtype=bool)
        on[: self.data.n_vars] = True
        on[self.first + codes[self.cells[:, 0], self.cells[:, 1]]] = True
        return on

    def restrict(self, completed: IncompleteData) -> ParentSets:
        """Return the candidates over the original variables under one completion.

        Examples
        --------
        >>> table = {"a": ["x", "x", "y", "y"], "b": ["u", "u", "v", None]}
        >>> data = IncompleteData.from_table(table)
        >>> completed = data.with_codes(np.minimum(data.codes, 1))
        >>> reduce_to_complete(data).restrict(completed).n_sets
        4
        """
        sets, n_vars = self.parent_sets, self.data.n_vars
        n_sets = int(sets.offsets[n_vars])
        members = sets.members[: sets.member_offsets[n_sets]]
        holder = owners_of(sets.member_offsets[: n_sets + 1])
        on = self.chosen(completed)
        keep = np.bincount(holder[~on[members]], minlength=n_sets) == 0
        stays = keep[holder] & (members < n_vars)
        sizes = np.bincount(holder[stays], minlength=n_sets)[keep]
        owner = owners_of(sets.offsets[: n_vars + 1])
        return ParentSets(
            self.data.names,
            offsets_of(np.bincount(owner[keep], minlength=n_vars)),
            sets.scores[:n_sets][keep],
            offsets_of(sizes),
            members[stays],
        )

    def write_jkl(self, path: str | os.PathLike[str]) -> None:
        """Write the candidates as a ``.jkl`` file, under the names `file_names`."""
        write_jkl(ParentSets(self.file_names, *self.parent_sets.arrays), path)

    def _family(
        self, child: int, parents: tuple[int, ...], states: NDArray[np.intp]
    ) -> tuple[int, ...]:
        """Find the candidate of a family, or else the best one within it."""
        own = np.isin(self.cells[:, 1], (child, *parents))
        members = (*parents, *states[own].tolist())
        found = self.parent_sets.find(child, members)
        if found < 0:
            found = self.parent_sets.best(child, members)
        if found < 0:
            msg = (
                "under this completion the reduction has no candidate for "
                f"{self.data.names[child]!r} within its parents. Its locality or its "
                "constraints exclude it."
            )
            raise ParameterError(msg)
        return self.parent_sets.members_of(found)

    def _in_order(self, dag: Dag) -> Dag:
        for names in (self.parent_sets.names, self.file_names):
            if set(dag.names) != set(names):
                continue
            place = {name: i for i, name in enumerate(names)}
            index = [place[name] for name in dag.names]
            parents: list[tuple[int, ...]] = [()] * len(index)
            for child, members in enumerate(dag.parents):
                parents[index[child]] = tuple(index[p] for p in members)
            return Dag(self.parent_sets.names, tuple(parents))
        msg = (
            f"the graph must have the {self.parent_sets.n_vars} variables of the "
            f"reduction. Got {dag.n_vars} variables, not all of them the same, instead."
        )
        raise ParameterError(msg)

    def _states(self, dag: Dag) -> NDArray[np.uint8]:
        states = np.zeros(self.n_cells, np.uint8)
        for cell, first in enumerate(self.first.tolist()):
            row, variable = self.cells[cell].tolist()
            labels = self.data.states[variable]
            open_states = [j for j in range(len(labels)) if not dag.parents[first + j]]
            # At least one: were there none, the ring of the gadget would be a cycle.
            if len(open_states) > 1:
                msg = (
                    f"the graph leaves {self.data.names[variable]!r} in row {row} with "
                    f"the states {', '.join(str(labels[j]) for j in open_states)}, so "
                    "it is not a best one. Use an exact solver."
                )
                raise ParameterError(msg)
            states[cell] = open_states[0]
        return states

    def __repr__(self) -> str:
        sets = self.parent_sets
        cells = f"{self.n_cells} missing cell{'s' * (self.n_cells != 1)}"
        return (
            f"Reduction({self.data.n_vars} variables, {cells}, "
            f"{sets.n_vars - self.data.n_vars} artificial variables, "
            f"{sets.n_sets} candidates)"
        )


@entrance
def reduce_to_complete(
    data: Any,
    *,
    score: Score | str = "bdeu",
    ess: float | None = None,
    prior: Prior | None = None,
    support: float | None = None,
    max_parents: int = 3,
    constraints: ConstraintsLike = None,
    completion: Any = None,
    locality: int | None = None,
    max_columns: int = 1_000_000,
    prune: bool = True,
    n_threads: int = 0,
    **reading: Unpack[Reading],
) -> Reduction:
    """Turn learning from incomplete data into learning from complete data.

    The best graph over the candidates of the result is, decoded, a best pair of
    structure and completion. Their number grows with the states of a variable to the
    power of the missing cells of a family.

    Parameters
    ----------
    data : IncompleteData, frame, array, mapping or path
        The table. Without missing cells the result is the plain problem.
    score : Score or str, default="bdeu"
        The rule, or its name. Scores may have any sign.
    {ess, prior, support}
    max_parents : int, default=3
        Largest number of (original) parents.
    {constraints}
    completion : IncompleteData, frame, array, mapping or path, optional
        A completed table to stay near to, with `locality`; an array of ``uint8`` holds
        its codes.
    locality : int, optional
        Largest number of cells in which the completion of a family may differ from
        `completion`. Two families may move different cells, so that more than this
        number of cells can change together.
    max_columns : int, default=1_000_000
        More parent sets with completions than this are refused before any is made.
    prune : bool, default=True
        Drop a candidate when a subset of its parents, under the same completion of
        what remains, scores at least as high. Never loses a best score.
    {n_threads}
    {reading}

    Returns
    -------
    Reduction
        The candidates, and the way back to structure and completion.

    Raises
    ------
    ParameterError
        When there would be more than `max_columns` parent sets with completions, or
        an argument is out of range.

    Examples
    --------
    >>> table = {"a": ["x", "x", "y", "y"], "b": ["u", "u", "v", None]}
    >>> reduction = reduce_to_complete(table, max_parents=0)
    >>> for score, members in reduction.parent_sets.of(1):
    ...     print(round(score, 3), [reduction.parent_sets.names[p] for p in members])
    -3.243 ['row 3: b = u']
    -3.753 ['row 3: b = v']
    """
    table = IncompleteData.from_table(data, **reading)
    rule = rule_for_scores(score, ess, prior, support)
    require_convex(rule)
    n_threads = check_integer("n_threads", n_threads)
    rules = Constraints.of(constraints).rules(table.names, max_parents=max_parents)
    scope, near = scope_of(table, completion, locality)
    n_columns = count_columns(scope, rules)
    check_columns(n_columns, max_columns)
    layout = Layout.of(table, scope)
    expansion = Expansion(table, scope, rules, score=rule, n_threads=n_threads)
    parent_sets, penalty = assemble(expansion, layout, n_vars=table.n_vars, prune=prune)
    return Reduction(
        table,
        rule,
        parent_sets,
        layout.cells,
        layout.first,
        penalty,
        n_columns,
        near,
        locality,
    )
