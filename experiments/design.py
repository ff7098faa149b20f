"""What an experiment is: settings, repetitions and methods, laid out before any run.

A *setting* is a cell of the design (a network, a mechanism, a hidden value), a *run* is
one repetition of a setting: a table with hidden cells whose truth is kept. Every method
gets the same tables, so that results are paired. The seed of a run follows from the
seed of the experiment, the stream of the setting and the number of the repetition,
hence a short experiment is the beginning of a long one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bayesmend.data.table import IncompleteData
from bayesmend.hiding.record import Hidden
from bayesmend.network.network import Network
from experiments.data import DataFolder, digest

__all__ = [
    "ACCURACY",
    "Answer",
    "Block",
    "Curves",
    "Experiment",
    "Measure",
    "Method",
    "Overview",
    "Place",
    "Run",
    "Setting",
    "Task",
    "fingerprint",
]


@dataclass(frozen=True, slots=True)
class Setting:
    """A cell of the design."""

    name: str
    """Within the experiment, such as ``asia/0``."""
    parameters: Mapping[str, Any]
    """What `Experiment.make` needs, in plain types; a change is one of protocol."""
    repetitions: Sequence[int]
    """The numbers of its repetitions."""
    stream: str = ""
    """Settings with the same stream get the same seeds; the name by default."""
    methods: tuple[str, ...] | None = None
    """The methods to run here; all by default."""
    files: tuple[str, ...] = ()
    """The data files that `Experiment.make` reads for it."""


@dataclass(frozen=True, slots=True)
class Run:
    """One repetition of a setting.

    Examples
    --------
    >>> run = Run(Setting("asia/0", {"state": 0}, range(100)), 7, base_seed=1)
    >>> run.seed == Run(run.setting, 7, base_seed=1).seed
    True
    >>> run.seed == run.seed_of(7), run.seed == run.seed_of(8)
    (True, False)
    """

    setting: Setting
    repetition: int
    base_seed: int

    @property
    def seed(self) -> int:
        """The seed of the table and of the methods."""
        return self.seed_of(self.repetition)

    def seed_of(self, *words: object) -> int:
        """Give a seed that several runs of a stream can share, below 2**32."""
        stream = self.setting.stream or self.setting.name
        text = "|".join(map(str, (self.base_seed, stream, *words)))
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")


@dataclass(frozen=True, slots=True)
class Task:
    """What a method gets to see, and what it is judged by."""

    hidden: Hidden
    """The table with hidden cells (``hidden.data``) and the truth about them."""
    network: Network | None = None
    """The network that the rows come from; for references and measures only."""
    target: str | None = None
    """The one variable with hidden cells, for classifiers."""

    @property
    def data(self) -> IncompleteData:
        """The table with missing cells."""
        return self.hidden.data


@dataclass(frozen=True, slots=True)
class Answer:
    """What a method makes of a task."""

    completed: IncompleteData | None = None
    """The completed table; None when the method learns a network alone."""
    score: float | None = None
    bound: float | None = None
    status: str = ""
    """What is known about the answer, in words."""
    network: Network | None = None
    """What was learned, for measures."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """More fields for the raw row, in plain types."""


@dataclass(frozen=True, slots=True)
class Method:
    """A way to fill the missing cells."""

    name: str
    """As in raw rows and on the command line."""
    label: str
    """As in tables and figures."""
    solve: Callable[..., Answer]
    """``solve(task, seed=..., n_threads=..., **options)``; worker processes import it,
    hence a function of a module."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Passed to `solve`, in plain types; a change of them is a change of protocol."""
    family: str = ""
    """Of the methods of one family (kernels of a support vector machine) the table
    shows the best in the mean."""
    is_reference: bool = False
    """It knows what the others do not (the true network) and does not compete."""
    reports: tuple[str, ...] | None = None
    """The measures that say something about it; all by default."""
    needs: tuple[str, ...] = ()
    """Modules of other packages that `solve` imports."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A field of the raw rows that a table reports."""

    name: str
    """The field."""
    label: str
    """In tables and figures, with the unit."""
    scale: float = 1.0
    """Raw values are multiplied by it; 100 for percentages."""
    digits: int = 2
    """Decimals in the table."""
    is_better_high: bool = True
    is_contest: bool = True
    """Whether the best are marked; some measures describe and do not judge."""
    limits: tuple[float, float] | None = None
    """Between which scaled values lie; axes and intervals end there."""
    is_success: bool = False
    """Whether a run succeeds or fails, 1 or 0: the table reports shares of runs."""


ACCURACY = Measure("accuracy", "accuracy (%)", scale=100.0, limits=(0.0, 100.0))
"""The share of hidden cells recovered."""


@dataclass(frozen=True, slots=True)
class Block:
    """Lines of the result table that belong together: one per method."""

    label: str
    """What the lines are about."""
    settings: tuple[str, ...]
    """The settings behind it. The value of a repetition is the mean over those of them
    that have it; settings with repetitions of their own count by their numbers of them
    in the whole design."""
    published: str = ""
    """The name of the published block, in `experiments.paper.published`."""
    is_drawn: bool = True
    """Whether the figure shows it."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where the result of a method in a block goes in a figure of curves."""

    panel: str
    """Title of the panel."""
    x: float
    """Position on the axis."""
    curve: str
    """Label of the curve; one is drawn through all places with the same label."""
    colour: str | int
    """The method whose colour it has, or a number for the next of a few colours."""


@dataclass(frozen=True, slots=True)
class Curves:
    """How to draw a sweep: curves over an axis instead of a row for each method."""

    x_label: str
    """What is on the axis."""
    place: Callable[[Block, Method], Place | None]
    """Gives None for what is not drawn."""
    is_log: bool = False
    """Whether the axis is logarithmic."""


@dataclass(frozen=True, slots=True)
class Overview:
    """A small table about all settings together."""

    words: str
    """What it shows and how it was worked out."""
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Experiment:
    """A design: which tables, which methods, and how the results are laid out."""

    name: str
    """On the command line."""
    title: str
    settings: tuple[Setting, ...]
    methods: tuple[Method, ...]
    blocks: tuple[Block, ...]
    make: Callable[[Run, DataFolder], Task]
    """Gives the task of a run; a function of a module."""
    seed: int = 1
    """From which all seeds follow."""
    quick_repetitions: int = 3
    """Repetitions of each setting in a quick run."""
    quick_settings: tuple[str, ...] | None = None
    """Beginnings of the names of the settings of a quick run; all by default."""
    measure: Callable[[Task, Answer], Mapping[str, Any]] | None = None
    """Gives more fields for the raw row."""
    measures: tuple[Measure, ...] = (ACCURACY,)
    """What the tables report."""
    focus: tuple[str, ...] = ()
    """Methods that the text compares with every other one."""
    summary: Callable[[Sequence[Mapping[str, Any]]], Sequence[Overview]] | None = None
    """Says what all raw rows together show."""
    notes: tuple[str, ...] = ()
    """What the protocol leaves open and how it was decided; printed with the table."""
    curves: Curves | None = None
    """For a sweep over many settings: the page has one line for each block and one
    column for each method, and the figure shows curves."""
    departures: tuple[str, ...] = ()
    """In what it is not the full protocol, when options changed it."""

    @property
    def files(self) -> tuple[str, ...]:
        """The data files that its settings need."""
        return tuple(sorted({file for s in self.settings for file in s.files}))

    @property
    def limits(self) -> dict[str, float]:
        """The seconds for each run of the methods that have a limit."""
        found = {m.name: m.options.get("time_limit") for m in self.methods}
        return {name: limit for name, limit in found.items() if limit is not None}

    def runs(self) -> Iterator[tuple[Run, Method]]:
        """Go through all runs and their methods, repetition by repetition."""
        for setting in self.settings:
            for repetition in setting.repetitions:
                run = Run(setting, repetition, self.seed)
                for method in self.methods:
                    if setting.methods is None or method.name in setting.methods:
                        yield run, method

    def parameters(self, setting: Setting, method: Method) -> dict[str, Any]:
        """Give all that the outcome of a run depends on, besides its repetition."""
        return {
            "seed": self.seed,
            "stream": setting.stream or setting.name,
            "setting": dict(setting.parameters),
            "method": dict(method.options),
        }


def fingerprint(parameters: Mapping[str, Any]) -> str:
    """Give a short text that differs when the parameters do.

    Examples
    --------
    >>> fingerprint({"a": 1, "b": 2}) == fingerprint({"b": 2, "a": 1})
    True
    >>> fingerprint({"a": 1}) == fingerprint({"a": 2})
    False
    """
    text = json.dumps(parameters, sort_keys=True, allow_nan=False)
    return digest(text.encode())
