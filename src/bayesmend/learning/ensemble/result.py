"""What learning several networks returns: their mean, and what they agree on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bayesmend.data.states import quantity
from bayesmend.graph.confidence import ArcProbabilities, Threshold
from bayesmend.graph.dag import Dag
from bayesmend.learning.result import LearnResult
from bayesmend.network.mixture import Mixture
from bayesmend.network.network import Network

__all__ = ["Ensemble"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Ensemble(LearnResult):
    """Several networks, the table mended by the mean of what they say, and a consensus.

    `impute`, `query`, `marginals`, `log_evidence` and `draw_completions` take it in
    place of a network, and answer by the mean of its members; `write_ensemble` keeps
    it.

    Parameters
    ----------
    mixture : Mixture
        The members with their weights.
    network : Network
        The consensus: the structure of `consensus`, its parameters fitted to the table
        by expectation-maximisation. It is there to be looked at; the mean answers
        better. From ``learn(method="auto")`` it is the best single network, that of
        structural EM, and ``detail["network"]`` says so.
    cells : CompletedCells
        Each mended cell by itself, by its mean distribution.
    score, log_likelihood : float
        The observed-data score of the consensus, as that of EM, and the log-likelihood
        of what is observed under it.
    detail : mapping
        ``weights``: that of each kind of member, the networks and the latent class
        models; ``sample_size``: the equivalent one of the networks; ``error``: the
        standard error of the mean distributions, root mean square, and whether it
        ``settled``; ``n_networks``, how many were learned, 0 where there was no time
        for one and the network of EM stands for all; ``classes`` that are used, and
        the weights ``planned`` for all kinds, None where it ended before.
    """

    mixture: Mixture

    @property
    def members(self) -> tuple[Network, ...]:
        """The networks, those with a hidden class last."""
        return self.mixture.networks

    def arc_probabilities(self) -> ArcProbabilities:
        """Return the share of the members that hold each arc."""
        return self.mixture.arc_probabilities()

    def consensus(self, threshold: Threshold = "auto") -> Dag:
        """Return the structure that members agree on; see `ArcProbabilities`."""
        return self.mixture.consensus(threshold)

    def _in_words(self) -> str:
        n_networks = quantity(len(self.mixture.structures), "network")
        n_hidden = len(self.members) - len(self.mixture.structures)
        models = quantity(n_hidden, "latent class model")
        words = f"average of {n_networks}" + (f" and {models}" if n_hidden else "")
        return words + (f", stopped at {self.stopped.words}" if self.stopped else "")

    def to_dict(self) -> dict[str, Any]:
        """Return all but parameters and table in plain types, ready for JSON."""
        return {
            **LearnResult.to_dict(self),
            "arc_probabilities": self.arc_probabilities().to_dict(),
        }
