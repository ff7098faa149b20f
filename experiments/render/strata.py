"""Blocks that join settings with repetitions of their own, each a stratum.

Where a hundred runs are shared out between two classes, 28 to 72, the plain mean over
the first five of each would weigh the classes alike. Until the runs there are have the
shares of the design, means are therefore weighted by these shares.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from experiments.design import Block, Experiment

__all__ = ["Strata"]


@dataclass(frozen=True, slots=True)
class Strata:
    """The repetitions of a block, each with the settings that have it.

    Parameters
    ----------
    settings : mapping of int to tuple of str
        The settings of each repetition; repetitions of the same ones are a stratum.

    Examples
    --------
    >>> shared = Strata({0: ("a",), 1: ("b",), 2: ("b",), 3: ("b",)})
    >>> shared.is_covered([0, 1]), shared.is_covered([1, 2])
    (True, False)
    >>> shared.is_proportional([0, 1, 2, 3]), shared.is_proportional([0, 1])
    (True, False)
    >>> shared.mean([(0, 1.0), (1, 0.0)])
    0.25
    """

    settings: Mapping[int, tuple[str, ...]]

    @classmethod
    def of(cls, experiment: Experiment, block: Block) -> Strata:
        """Take the repetitions of a block from the whole design."""
        found: dict[int, tuple[str, ...]] = defaultdict(tuple)
        for setting in experiment.settings:
            if setting.name in block.settings:
                for repetition in setting.repetitions:
                    found[repetition] += (setting.name,)
        return cls(dict(found))

    def is_covered(self, repetitions: Iterable[int]) -> bool:
        """Tell whether every stratum has at least one of the repetitions."""
        return set(self._count(repetitions)) == set(self.settings.values())

    def is_proportional(self, repetitions: Collection[int]) -> bool:
        """Tell whether the repetitions are shared out as in the whole design."""
        here, whole = self._count(repetitions), Counter(self.settings.values())
        return all(
            here[stratum] * len(self.settings) == n * len(repetitions)
            for stratum, n in whole.items()
        )

    def mean(self, values: Collection[tuple[int, float]]) -> float:
        """Average values of repetitions, each stratum by its share of the design."""
        if self.is_proportional([repetition for repetition, _ in values]):
            return math.fsum(value for _, value in values) / len(values)
        by_stratum: dict[tuple[str, ...], list[float]] = defaultdict(list)
        for repetition, value in values:
            by_stratum[self.settings[repetition]].append(value)
        shares = Counter(self.settings.values())
        weighted = [
            shares[stratum] * math.fsum(found) / len(found)
            for stratum, found in by_stratum.items()
        ]
        return math.fsum(weighted) / sum(shares[stratum] for stratum in by_stratum)

    def _count(self, repetitions: Iterable[int]) -> Counter[tuple[str, ...]]:
        return Counter(self.settings[repetition] for repetition in repetitions)
