"""Several networks over the same variables whose answers are averaged."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bayesmend._checks import check_items
from bayesmend._copies import frozen_in_copies
from bayesmend._shown import Shown
from bayesmend.data.schema import Schema
from bayesmend.data.states import MISSING, Label, quantity
from bayesmend.errors import DataError, ParameterError
from bayesmend.graph.confidence import ArcProbabilities, Threshold
from bayesmend.graph.dag import Dag
from bayesmend.network.mechanism import Mechanism
from bayesmend.network.network import Network, check_network

__all__ = ["Mixture", "Model", "ModelLike", "check_model", "model_of"]


@frozen_in_copies
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Mixture(Shown):
    """Networks over the same variables whose answers are averaged, with weights.

    `impute`, `query`, `marginals`, `log_evidence` and `draw_completions` take it in
    place of a network.

    Parameters
    ----------
    networks : tuple of Network
        The members. Each begins with the same variables and states, in the same order;
        what it has beyond these is hidden: never observed and never asked about.
    weights : ndarray of shape (n_networks,), optional
        How much each one counts; they sum to 1. All alike by default.
    n_vars : int, optional
        Number of variables that are not hidden; by default those of the first member.
    chains : tuple of int, optional
        Members of the same number were found one after the other, each from the one
        before; for the errors of `arc_probabilities`.

    Examples
    --------
    >>> import bayesmend as bm
    >>> asia = bm.load_network("asia")
    >>> data = asia.sample(100, seed=1)
    >>> other = Network.fit(asia.dag, data, estimate="posterior")
    >>> mixture = Mixture((asia, other))
    >>> mixture
    Mixture(2 networks, 8 variables)
    >>> given = {"smoke": "yes"}
    >>> one, two, both = (
    ...     bm.query(x, "lung", given=given).distributions["lung"]["yes"]
    ...     for x in (asia, other, mixture)
    ... )
    >>> abs(both - (one + two) / 2) < 1e-12
    True
    """

    networks: tuple[Network, ...]
    weights: NDArray[np.float64] | None = None
    n_vars: int | None = None
    chains: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        check_items("networks", self.networks, "networks")
        networks = tuple(self.networks)
        if not networks:
            msg = "a mixture needs at least one network. Got none."
            raise ParameterError(msg)
        for network in networks:
            check_network(network)
        n_vars = networks[0].n_vars if self.n_vars is None else int(self.n_vars)
        object.__setattr__(self, "networks", networks)
        object.__setattr__(self, "n_vars", n_vars)
        object.__setattr__(
            self, "weights", _checked_weights(self.weights, len(networks))
        )
        for number, network in enumerate(networks):
            self._check_variables(number, network)
        if self.chains is not None:
            if len(self.chains) != len(networks):
                msg = (
                    f"chains must have one entry per network ({len(networks)}). "
                    f"Got {len(self.chains)} instead."
                )
                raise ParameterError(msg)
            object.__setattr__(self, "chains", tuple(map(int, self.chains)))

    def _check_variables(self, number: int, network: Network) -> None:
        n = self.n_vars
        if network.names[:n] != self.names or network.states[:n] != self.states:
            msg = (
                f"the networks of a mixture must begin with the same variables and "
                f"states. Network {number} differs from network 0."
            )
            raise DataError(msg)
        if _explained(network) != _explained(self.networks[0]):
            msg = (
                "the networks of a mixture must all know why cells are missing, for "
                f"the same variables, or none of them. Network {number} differs from "
                "network 0."
            )
            raise DataError(msg)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the variables that are not hidden."""
        return self.networks[0].names[: self.n_vars]

    @property
    def states(self) -> tuple[tuple[Label, ...], ...]:
        """Labels of their states."""
        return self.networks[0].states[: self.n_vars]

    @property
    def card(self) -> NDArray[np.int32]:
        """Number of their states."""
        return self.networks[0].card[: self.n_vars]

    @property
    def schema(self) -> Schema | None:
        """How the table learned from was read."""
        return self.networks[0].schema

    @property
    def structures(self) -> tuple[Dag, ...]:
        """The structures of the members without hidden variables."""
        return tuple(n.dag for n in self.networks if n.n_vars == self.n_vars)

    def arc_probabilities(self) -> ArcProbabilities:
        """Return the share of the structures that hold each arc.

        Members with hidden variables have no arcs between the others, and do not
        count.
        """
        structures = self.structures
        if not structures:
            msg = (
                "every network of this mixture has hidden variables, and no arcs "
                "between the others to count."
            )
            raise ParameterError(msg)
        chains = self.chains
        if chains is not None:
            pairs = zip(chains, self.networks, strict=True)
            chains = tuple(c for c, n in pairs if n.n_vars == self.n_vars)
        return ArcProbabilities.of(structures, chains)

    def consensus(self, threshold: Threshold = "auto") -> Dag:
        """Return the structure that members agree on; see `ArcProbabilities`."""
        return self.arc_probabilities().consensus(threshold)

    @property
    def mechanism(self) -> Mechanism | None:
        """Why cells are missing, as the first network says; None where none knows."""
        return self.networks[0].mechanism

    def with_indicators(self) -> Mixture:
        """Return the networks with their mechanisms as further variables.

        Indicators are not hidden: they come before the variables that are. Without a
        mechanism it is the mixture itself.
        """
        if self.mechanism is None:
            return self
        n_vars = len(self.names)
        return replace(
            self,
            networks=tuple(
                network.with_indicators(n_vars) for network in self.networks
            ),
            n_vars=n_vars + len(self.mechanism.variables),
        )

    def cells_for(self, number: int, cells: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Return cells of shape (n_vars, n_rows) with those hidden from a member."""
        n_hidden = self.networks[number].n_vars - len(cells)
        if not n_hidden:
            return cells
        hidden = np.full((n_hidden, cells.shape[1]), MISSING, dtype=np.uint8)
        return np.concatenate([cells, hidden])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mixture):
            return NotImplemented
        assert self.weights is not None
        return (
            self.networks == other.networks
            and np.array_equal(self.weights, other.weights)  # type: ignore[arg-type]
            and self.n_vars == other.n_vars
            and self.chains == other.chains
        )

    def __hash__(self) -> int:
        return hash(self.networks)

    def __repr__(self) -> str:
        n_hidden = len(self.networks) - len(self.structures)
        hidden = f", {n_hidden} with hidden variables" if n_hidden else ""
        return (
            f"Mixture({quantity(len(self.networks), 'network')}{hidden}, "
            f"{quantity(len(self.names), 'variable')})"
        )


def _explained(network: Network) -> tuple[str, ...] | None:
    """Return the variables of which a network knows why cells are missing."""
    return None if network.mechanism is None else network.mechanism.variables


Model = Network | Mixture


class HasMixture(Protocol):
    """A result whose answers are those of a mixture."""

    @property
    def mixture(self) -> Mixture:
        """The mixture."""


ModelLike = Model | HasMixture


def model_of(network: ModelLike) -> Model:
    """Return a network or mixture as it is, and of a result with a mixture that.

    Raises ``ParameterError`` for anything else.
    """
    found = getattr(network, "mixture", network)
    check_model(found)
    assert isinstance(found, Network | Mixture)
    return found


def check_model(network: object) -> None:
    """Raise ``ParameterError`` unless it is a network or a mixture of networks."""
    if not isinstance(network, Mixture):
        check_network(network)


def _checked_weights(
    weights: NDArray[np.float64] | None, n_networks: int
) -> NDArray[np.float64]:
    """Return read-only weights that sum to 1."""
    if weights is None:
        weights = np.full(n_networks, 1 / n_networks)
    array = np.array(weights, dtype=np.float64)
    if array.shape != (n_networks,):
        msg = (
            f"weights must have one entry per network ({n_networks}). "
            f"Got shape {array.shape} instead."
        )
        raise ParameterError(msg)
    is_good = bool(np.isfinite(array).all() and (array >= 0).all())
    if not is_good or not math.isclose(array.sum(), 1.0, abs_tol=1e-6):
        msg = "weights must be numbers >= 0 that sum to 1."
        raise ParameterError(msg)
    if not math.isclose(array.sum(), 1.0, rel_tol=1e-12):  # what was is kept to the bit
        array /= array.sum()
    array.flags.writeable = False
    return array
