"""Latent class models: a hidden variable that is the parent of all others.

It sees what many variables have in common, where a network gives a variable a few
parents.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from bayesmend._checkpoint import Kept
from bayesmend._clock import Clock
from bayesmend.data.states import MISSING
from bayesmend.data.table import IncompleteData
from bayesmend.graph.dag import Dag
from bayesmend.inference.engine import Engine
from bayesmend.learning.em.expectation import Table
from bayesmend.learning.ensemble.chain import Member
from bayesmend.learning.ensemble.indicated import Indicated
from bayesmend.learning.starts import observed_shares

__all__ = ["ClassModels"]

# How far the classes are told apart at first.
_UNLIKE = 0.5
# Gain per row (in nats) at which the parameters are left: closer they only fit noise.
_TOL, _MAX_ITER = 1e-3, 200


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class ClassModels:
    """A table ready to have latent class models fitted to it."""

    data: IncompleteData
    engine: Engine
    indicated: Indicated = field(default_factory=Indicated)
    kept: Kept = field(default_factory=Kept)

    def alone(self) -> ClassModels:
        """Return the same without a checkpoint, which stays here."""
        return replace(self, kept=Kept())

    def fit(
        self, n_classes: int, generator: np.random.Generator, clock: Clock
    ) -> Member:
        """Fit one from classes drawn at random; TimeoutError where there is no time.

        The prior of the parameters has as many pseudo-rows as there are classes.
        """
        joint = self.indicated.table(self.data)
        table = Table.of(_with_class(joint, n_classes), self.engine)
        n_vars, ess = joint.n_vars, float(n_classes)
        sets = ((n_vars,),) * self.data.n_vars + self.indicated.sets
        dag = Dag(table.data.names, (*sets, ()))
        told = self.kept.step(
            "fit",
            lambda: self._counts(table, dag, n_classes, generator, clock),
            n_classes,
            self.indicated.cpts(),
            generator=generator,
        )
        with self.kept.sound():
            network = table.network(dag, np.asarray(told, np.float64), ess)
        asked = np.ones(n_vars + 1, np.uint8)
        asked[n_vars] = 0
        cells = np.ascontiguousarray(table.data.codes.T)
        compiled = self.engine.compile(network, cells, asked)
        return Member(self.indicated.member(network), compiled.marginals())

    def _counts(
        self,
        table: Table,
        dag: Dag,
        n_classes: int,
        generator: np.random.Generator,
        clock: Clock,
    ) -> NDArray[np.float64]:
        fitted = table.fit(
            dag,
            self._start(n_classes, generator),
            clock=clock,
            ess=float(n_classes),
            max_iter=_MAX_ITER,
            tol=_TOL,
        )
        if fitted.stopped:
            raise TimeoutError
        return fitted.counts

    def _start(
        self, n_classes: int, generator: np.random.Generator
    ) -> NDArray[np.float64]:
        tables = []
        for share in observed_shares(self.data, 1.0):
            drawn = generator.dirichlet(np.ones(len(share)), n_classes)
            tables.append(((1 - _UNLIKE) * share + _UNLIKE * drawn).ravel())
        classes = np.full(n_classes, 1 / n_classes)
        return np.concatenate([*tables, self.indicated.cpts(), classes])


def _with_class(data: IncompleteData, n_classes: int) -> IncompleteData:
    """Add a variable that is missing in every row."""
    hidden = np.full((data.n_rows, 1), MISSING, np.uint8)
    return IncompleteData.from_codes(
        np.asfortranarray(np.hstack([data.codes, hidden])),
        names=(*data.names, _unused_name(data.names)),
        states=(*data.states, tuple(range(1, n_classes + 1))),
        weights=data.weights,
    )


def _unused_name(names: tuple[str, ...]) -> str:
    """Return a name for the hidden variable that no other has.

    Examples
    --------
    >>> _unused_name(("a", "latent class"))
    'latent class '
    """
    name = "latent class"
    while name in names:
        name += " "
    return name
