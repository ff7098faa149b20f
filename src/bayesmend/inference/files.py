"""Files completed one by one, block by block: tables that need not fit into memory."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, Unpack

import numpy as np

from bayesmend._checks import check_choice, check_flag
from bayesmend._clock import Clock
from bayesmend._entrance import entrance
from bayesmend._files import PathLike, file_suffix, is_file, resolved, write_chunks
from bayesmend._formulas import without_formulas
from bayesmend._link import linked
from bayesmend._packages import require
from bayesmend._progress import Progress, told
from bayesmend._shown import Shown
from bayesmend._spelling import spell
from bayesmend._warn import warn
from bayesmend.data.blocks import BlockFile, open_blocks
from bayesmend.data.csv import default_delimiter
from bayesmend.data.discretize import is_auto
from bayesmend.data.files import FileOptions
from bayesmend.data.guesses import tell_guesses
from bayesmend.data.parts import files_of, open_parts
from bayesmend.data.reading import Reading, ReadingOptions
from bayesmend.data.restore import Fill
from bayesmend.data.sources import FRAME_SUFFIXES, PARQUET_SUFFIXES
from bayesmend.data.states import MISSING_MARKERS
from bayesmend.errors import (
    DataError,
    MissingDependencyError,
    ParameterError,
    ReadingWarning,
)
from bayesmend.inference.align import Unknown
from bayesmend.inference.engine import MAX_MEMORY, Inference
from bayesmend.inference.impute import How, Imputation, impute
from bayesmend.network.mixture import Model, ModelLike, model_of
from bayesmend.seed import Seed, as_generator

__all__ = ["ImputedFiles", "impute_files"]


@dataclass(frozen=True, slots=True, repr=False)
class ImputedFiles(Shown):
    """What was filled in files, and where they are.

    Parameters
    ----------
    files : tuple of Path
        The files written, in the order of those read.
    n_rows : int
        Number of rows of all files.
    imputed : dict of str to int
        Number of cells filled, by variable.
    mean_probability : float or None
        Of the cells filled; None where there are none.
    lowest_probability : float or None
        Of the cells filled.
    extra : tuple of str
        Columns that the network does not know; they are kept as they are.
    absent : tuple of str
        Variables that the files lacked; they come last.
    unknown : dict of str to int
        Number of labels that the network does not know, by variable.
    n_empty_rows : int
        Number of rows in which nothing that the network knows is observed.
    """

    files: tuple[Path, ...]
    n_rows: int
    imputed: dict[str, int]
    mean_probability: float | None
    lowest_probability: float | None
    extra: tuple[str, ...]
    absent: tuple[str, ...]
    unknown: dict[str, int]
    n_empty_rows: int

    @property
    def n_imputed(self) -> int:
        """Number of cells filled."""
        return sum(self.imputed.values())

    def to_dict(self) -> dict[str, Any]:
        """Return all of it in plain types, ready for JSON."""
        return {
            "files": [str(path) for path in self.files],
            "n_rows": self.n_rows,
            "n_imputed": self.n_imputed,
            "imputed": dict(self.imputed),
            "mean_probability": self.mean_probability,
            "lowest_probability": self.lowest_probability,
            "extra": list(self.extra),
            "absent": list(self.absent),
            "unknown": dict(self.unknown),
            "n_empty_rows": self.n_empty_rows,
        }

    def __repr__(self) -> str:
        n_files = len(self.files)
        word = "file" if n_files == 1 else "files"
        return (
            f"ImputedFiles({n_files:,} {word}, {self.n_rows:,} rows,"
            f" {self.n_imputed:,} cells)"
        )


@entrance
def impute_files(
    network: ModelLike,
    files: Any,
    out: PathLike,
    *,
    force: bool = False,
    method: How | None = None,
    seed: Seed = None,
    inference: Inference = "exact",
    n_samples: int | None = None,
    allow_absent: bool = False,
    unknown: Unknown = "error",
    fill: Fill = "number",
    fill_empty_rows: bool = False,
    mechanism: Literal["always", "ignore"] | None = None,
    n_threads: int = 0,
    max_memory: float = MAX_MEMORY,
    safe: bool = False,
    client: Any = None,
    progress: Progress | bool | None = None,
    **reading: Unpack[Reading],
) -> ImputedFiles:
    """Fill the missing cells of files from a network, and write them as files.

    The files are completed one by one, and large ones block by block, so that none has
    to fit into memory. Each file appears whole or not at all, and none is replaced
    unless asked.

    Parameters
    ----------
    {model}
    files : path, pattern or list of these
        Files of delimited text, Parquet or Arrow, parts of one table or not: every one
        is read with the columns that it has.
    out : path
        The file to write, for a single one; else the folder for files of the same
        names, made if needed.
    force : bool, default=False
        Whether files that exist are replaced; never those that are read.
    method : {"mpe", "marginal", "draw"}, optional
        As in `impute`. Draws depend on how rows are spread over files.
    seed : int, Generator or None
        Source of randomness, for ``draw`` and weighting.
    inference : {"exact", "weighting"}, default="exact"
        As in `impute`.
    n_samples : int, optional
        As in `impute`.
    allow_absent : bool, default=False
        As in `impute`.
    {unknown}
    fill : {"number", "interval"}, default="number"
        As in `impute`.
    {fill_empty_rows}
    mechanism : {"always", "ignore"}, optional
        Whether it is evidence that a cell is missing, as in `impute`; to be said where
        the network knows why cells are missing. That a variable is missing in every row
        is not seen when rows come block by block, so there is no ``use``.
    {n_threads, max_memory}
    safe : bool, default=False
        Whether text that a spreadsheet would take for a formula gets an apostrophe in
        front, as in `IncompleteData.write_csv`.
    client : dask.distributed.Client or str, optional
        A cluster, or the address of its scheduler: its workers complete the files, each
        of them another one. All must see them, and the folder, under the same names.
    {progress}
    {reading}

    Returns
    -------
    ImputedFiles
        What was filled. Files of text are written as text in UTF-8, those of frames as
        such.

    Examples
    --------
    >>> import tempfile
    >>> import bayesmend as bm
    >>> asia = bm.load_network("asia")
    >>> folder = Path(tempfile.mkdtemp())
    >>> for k in range(2):
    ...     part = bm.hide_mcar(asia.sample(100, seed=k), 0.1, seed=k).data
    ...     part.write_csv(folder / f"part-{k}.csv")
    >>> found = impute_files(asia, f"{folder}/part-*.csv", folder / "filled")
    >>> found.n_rows, [path.name for path in found.files]
    (200, ['part-0.csv', 'part-1.csv'])
    """
    progress = told(progress)
    check_flag("force", force)
    check_flag("safe", safe)
    model = model_of(network)
    _check_mechanism(model, mechanism)
    options = ReadingOptions(**reading)
    _check_cuts(options)
    single = _is_single(files)
    notes: list[str] = []
    parts = open_parts(files_of(files) or [Path(files)], options.file, notes)
    if notes:
        warn(tell_guesses("the files", (), {}, {}, {}, notes), ReadingWarning)
    targets = _targets(parts, Path(out), is_file=single, force=force)
    how: dict[str, Any] = {
        "method": method,
        "inference": inference,
        "n_samples": n_samples,
        "allow_absent": allow_absent,
        "unknown": unknown,
        "fill": fill,
        "fill_empty_rows": fill_empty_rows,
        "mechanism": mechanism or "ignore",
        "n_threads": n_threads,
        "max_memory": max_memory,
    }
    generators = as_generator(seed).spawn(len(parts))
    jobs = [
        _Job(model, part.path.resolve(), target.absolute(), how, reading, own, safe)
        for part, target, own in zip(parts, targets, generators, strict=True)
    ]
    for part in parts:
        if part.notes:
            told_notes = tell_guesses(part.path.name, (), {}, {}, {}, part.notes)
            warn(told_notes, ReadingWarning)
    clock, tally = Clock(), _Tally(model.names)
    settled = parts[0].like(options.file)
    for k, done in enumerate(_done(jobs, settled, client)):
        tally.join(done)
        if progress is not None:
            share = (k + 1) / len(parts)
            progress(parts[k].path.name, np.nan, clock.seconds, share=share)
    return tally.told(targets)


class _Job(NamedTuple):
    """A file to complete."""

    model: Model
    path: Path
    target: Path
    how: dict[str, Any]
    reading: Reading
    generator: np.random.Generator
    safe: bool


def _done(jobs: Sequence[_Job], settled: FileOptions, client: Any) -> Iterator[_Tally]:
    """Complete the files, here or on a cluster; tell of each in their order."""
    if client is None:
        for job in jobs:
            yield _complete(job, settled)
        return
    with linked(client) as link:
        tasks = [link.submit(_complete_there, job, settled) for job in jobs]
        for task in tasks:
            yield link.gather(task)


def _complete_there(job: _Job, settled: FileOptions) -> _Tally:
    """Complete a file on a worker, on one thread."""
    return _complete(job._replace(how={**job.how, "n_threads": 1}), settled)


def _complete(job: _Job, settled: FileOptions) -> _Tally:
    """Complete a file."""
    part = open_blocks(job.path, settled)
    tally = _Tally(job.model.names)
    with without_formulas(job.safe):
        _FileImputer(job.model, part, job.how, job.reading, job.generator, tally).write(
            job.target
        )
    return tally


def _check_mechanism(model: Model, mechanism: object) -> None:
    if mechanism is not None:
        check_choice("mechanism", mechanism, ("always", "ignore"))
    elif model.mechanism is not None:
        message = (
            "the network knows why cells are missing, and whether a variable was asked"
            " for is not seen file by file. Choose"
            f" {spell('mechanism', 'always')} or {spell('mechanism', 'ignore')}."
        )
        raise ParameterError(message)


def _check_cuts(options: ReadingOptions) -> None:
    """Refuse to choose cut points, which would differ from block to block."""
    if not isinstance(options.discretize, Mapping):
        return
    for name, how in options.discretize.items():
        is_number = isinstance(how, (int, np.integer))
        is_way = isinstance(how, tuple) and len(how) == 2 and isinstance(how[0], str)
        if not is_auto(how) and (is_number or is_way):
            message = (
                f"{spell('discretize', {name: how})} would choose other cut points in"
                " every file. Give the points."
            )
            raise ParameterError(message)


def _is_single(files: Any) -> bool:
    return isinstance(files, (str, os.PathLike)) and is_file(Path(files))


def _targets(
    parts: list[BlockFile], out: Path, *, is_file: bool, force: bool
) -> list[Path]:
    """Name the files to write, and refuse those that must not be."""
    if is_file:
        targets = [out]
    else:
        if out.exists() and not out.is_dir():
            message = f"'{out}' is a file. Several files need a folder."
            raise ParameterError(message)
        targets = [out / part.path.name for part in parts]
    if len(set(targets)) < len(targets):
        twice = next(t.name for k, t in enumerate(targets) if t in targets[:k])
        message = (
            f"two of the files are called '{twice}'. Complete them into two folders."
        )
        raise ParameterError(message)
    for part, target in zip(parts, targets, strict=True):
        place = resolved(target)
        if place == resolved(part.path):
            message = f"'{target}' is the file that is read. Name another place."
        elif place.exists() and not force:
            message = f"'{target}' exists. Pass {spell('force', True)} to replace it."
        elif _form(target) != _form(part.path):
            message = (
                f"'{target}' is called like another format than that of"
                f" '{part.path.name}'. Name it alike."
            )
        else:
            continue
        raise ParameterError(message)
    try:
        targets[0].parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"cannot make the folder '{targets[0].parent}': {error.strerror}."
        raise DataError(message) from error
    return targets


def _form(path: Path) -> str:
    suffix = file_suffix(path)
    if suffix in PARQUET_SUFFIXES:
        return "parquet"
    return "arrow" if suffix in FRAME_SUFFIXES else "text"


class _Tally:
    """What was filled so far."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.imputed = dict.fromkeys(names, 0)
        self.n_rows = self.n_empty = 0
        self.sum, self.lowest = 0.0, np.inf
        self.extra: tuple[str, ...] = ()
        self.absent: tuple[str, ...] = ()
        self.unknown: dict[str, int] = {}

    def add(self, found: Imputation) -> None:
        """Count what was filled in a block."""
        told = found.to_dict()
        self.n_rows += told["n_rows"]
        self.n_empty += told["n_empty_rows"]
        for name, count in told["imputed"].items():
            self.imputed[name] += count
        for name, count in told["unknown"].items():
            self.unknown[name] = self.unknown.get(name, 0) + count
        self.extra, self.absent = found.extra, found.absent
        p = found.cells.probabilities
        if p is not None and len(p):
            self.sum += float(p.sum())
            self.lowest = min(self.lowest, float(p.min()))

    def join(self, other: _Tally) -> None:
        """Count what was filled in another file."""
        self.n_rows += other.n_rows
        self.n_empty += other.n_empty
        for name, count in other.imputed.items():
            self.imputed[name] += count
        for name, count in other.unknown.items():
            self.unknown[name] = self.unknown.get(name, 0) + count
        self.extra, self.absent = other.extra, other.absent
        self.sum += other.sum
        self.lowest = min(self.lowest, other.lowest)

    def told(self, files: list[Path]) -> ImputedFiles:
        """Return all of it."""
        n_imputed = sum(self.imputed.values())
        return ImputedFiles(
            files=tuple(files),
            n_rows=self.n_rows,
            imputed=self.imputed,
            mean_probability=self.sum / n_imputed if n_imputed else None,
            lowest_probability=self.lowest if n_imputed else None,
            extra=self.extra,
            absent=self.absent,
            unknown=self.unknown,
            n_empty_rows=self.n_empty,
        )


class _FileImputer:
    """A file on its way from a network's gaps to a completed one."""

    def __init__(
        self,
        model: Model,
        part: BlockFile,
        how: Mapping[str, Any],
        reading: Mapping[str, Any],
        generator: np.random.Generator,
        tally: _Tally,
    ) -> None:
        self.model, self.part, self.how = model, part, how
        self.reading, self.generator, self.tally = reading, generator, tally

    def write(self, target: Path) -> None:
        """Complete the file block by block into another one."""
        if self.part.kind == "text":
            write_chunks(target, self._texts(target))
        else:
            _write_frames(target, self._frames())

    def _imputed(self) -> Iterator[Imputation]:
        # What a file is made of is known by now.
        columns = {
            name: value
            for name, value in self.reading.items()
            if name not in ("delimiter", "decimal", "encoding", "header", "sheet")
        }
        for block in self.part.blocks():
            seed = self.generator.spawn(1)[0]
            found = impute(self.model, block, seed=seed, **self.how, **columns)
            self.tally.add(found)
            yield found

    def _texts(self, target: Path) -> Iterator[bytes]:
        missing = self.reading.get("missing")
        mark = default_delimiter(target, self.part.delimiter)
        is_first = True
        for found in self._imputed():
            chunks = found.completed.csv_chunks(
                mark,
                missing=MISSING_MARKERS if missing is None else missing,
                fill=found.fill,
            )
            header = next(chunks)
            if is_first:
                yield header
            is_first = False
            yield from chunks

    def _frames(self) -> Iterator[Any]:
        for found in self._imputed():
            yield found.to_table()


def _write_frames(target: Path, frames: Iterator[Any]) -> None:
    """Write frames below each other into one file, whole or not at all."""
    place = resolved(target)
    temporary = place.with_name(f".{place.name}.{secrets.token_hex(8)}")
    is_parquet = file_suffix(target) in PARQUET_SUFFIXES
    try:
        try:
            require("pyarrow")
            _write_by_pyarrow(temporary, frames, is_parquet=is_parquet)
        except MissingDependencyError:
            _write_by_polars(temporary, frames, is_parquet=is_parquet)
        temporary.replace(place)
    except OSError as error:
        message = f"cannot write {str(target)!r}: {error.strerror or error}."
        raise DataError(message) from error
    finally:
        temporary.unlink(missing_ok=True)


def _write_by_pyarrow(path: Path, frames: Iterator[Any], *, is_parquet: bool) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    first = next(frames)
    schema = first.schema
    with (
        parquet.ParquetWriter(path, schema)
        if is_parquet
        else pa.ipc.new_file(path, schema) as writer
    ):
        writer.write_table(first)
        for frame in frames:
            writer.write_table(frame.cast(schema))


def _write_by_polars(path: Path, frames: Iterator[Any], *, is_parquet: bool) -> None:
    import polars as pl

    whole = pl.concat(list(frames))
    if is_parquet:
        whole.write_parquet(path)
    else:
        whole.write_ipc(path)
