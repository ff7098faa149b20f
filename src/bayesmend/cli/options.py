"""The options that several commands share, each declared once.

Options that always come together form a set: a frozen dataclass that a command takes
as one argument, and that knows what its options mean. Options are called inside as
the parameters of the library, so that its messages can be spelled in options.
"""

import csv
import glob
import inspect
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, is_dataclass
from functools import wraps
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any, TypeVar

import typer

from bayesmend._files import file_suffix
from bayesmend.cli.declare import Debug, flag, option, repeated
from bayesmend.cli.folder import kept_from_others, there_meanwhile, write_folder
from bayesmend.cli.terminal import (
    COLUMN_OPTIONS,
    STREAM,
    Command,
    UsageError,
    check_outputs,
    hold,
    input_path,
    network_suffix,
)
from bayesmend.data.states import MISSING_MARKERS, Label, quantity
from bayesmend.data.table import IncompleteData
from bayesmend.datasets import available_networks, load_network
from bayesmend.errors import ParameterError
from bayesmend.formats import read_model, read_network
from bayesmend.formats.text import read_source
from bayesmend.graph.constraints import Constraints
from bayesmend.inference.engine import MAX_MEMORY
from bayesmend.learning.ensemble.result import Ensemble
from bayesmend.learning.learn import learn
from bayesmend.learning.saved import read_result
from bayesmend.network.mixture import Model
from bayesmend.network.network import Network

__all__ = [
    "EMPTY_ROWS",
    "ENSEMBLE",
    "MEMORY",
    "NETWORK",
    "OWN_MEMORY",
    "AnyNet",
    "Checkpoint",
    "Debug",
    "Folder",
    "Force",
    "Json",
    "MaxMemory",
    "Net",
    "Reading",
    "Rows",
    "SafeCsv",
    "Scheduler",
    "Search",
    "Seed",
    "TableOut",
    "Threads",
    "command_of",
    "defaults_of",
    "empty_rows_in_words",
    "flag",
    "option",
    "pair",
    "pairs",
    "read_any",
    "read_net",
    "repeated",
    "samples",
    "split",
    "spread",
    "title_of",
    "words",
]


_M = TypeVar("_M")

NETWORK, ENSEMBLE = "network.bif", "ensemble.json"
"""What a network and an ensemble are called in the folder of a result."""


def defaults_of(function: Callable[..., Any]) -> SimpleNamespace:
    """Return the defaults of a function by the names of its parameters."""
    parameters = inspect.signature(function).parameters.values()
    return SimpleNamespace(**{p.name: p.default for p in parameters})


_learn = defaults_of(learn)

# --- options by themselves ------------------------------------------------------------


def empty_rows_in_words(n_rows: int) -> str:
    """Say that rows were left alone, and how they would not be."""
    rows = quantity(n_rows, "row")
    return (
        f"{rows} without any observed cell left missing; pass --fill-empty-rows to "
        "fill them"
    )


def samples(default: int) -> Any:
    """Declare the number of samples, which the library takes ``None`` for."""
    return option(
        "N", f"Samples, for weighting; {default:,} by default.", "--samples", min=1
    )


MEMORY = option(
    "BYTES",
    f"Limit of the tables of exact inference; {MAX_MEMORY / 2**30:g} GiB by default.",
    show_default=False,
)
OWN_MEMORY = option(
    "BYTES",
    "Limit of what is taken beyond what is held at the beginning. What needs more is "
    "refused, or left for a search that needs less.",
    show_default=False,
)
EMPTY_ROWS = flag("--fill-empty-rows", "Fill rows in which nothing is observed, too.")
MaxMemory = Annotated[float, MEMORY]
Checkpoint = Annotated[
    Path | None,
    option(
        "DIR",
        "Folder in which the work is kept as it goes on: the same command, begun again "
        "with it after any end, goes on where that was, to the same answer.",
    ),
]
Scheduler = Annotated[
    str | None,
    option(
        "ADDRESS",
        "Scheduler of a dask cluster, such as tcp://host:8786, whose workers do the "
        "work; they see the files under the same names.",
        "--scheduler",
    ),
]
Net = Annotated[
    str,
    typer.Argument(
        metavar="NET",
        help="Network: a .bif, .xmlbif, .json or .graphml file (also .gz), "
        "a shipped one by name (asia, lucas), or - for stdin.",
        show_default=False,
    ),
]
AnyNet = Annotated[
    str,
    typer.Argument(
        metavar="NET",
        help="Network or ensemble: a .bif, .xmlbif, .json or .graphml file (also .gz), "
        "the folder of learn --out or its result.json, a shipped network by name "
        "(asia, lucas), or - for stdin.",
        show_default=False,
    ),
]
TableOut = Annotated[Path | None, option("FILE", "CSV file; stdout by default.")]
Force = Annotated[bool, flag("--force", "Replace files that exist already.")]
SafeCsv = Annotated[
    bool,
    flag("--safe-csv", "Put ' before text that a spreadsheet would take as a formula."),
]
Json = Annotated[bool, flag("--json", "Print one JSON object.")]
Seed = Annotated[int | None, option("N", "Same seed, same result.", min=0)]
Threads = Annotated[
    int, option("N", "Number of threads; 0: one per core.", "--threads", min=0)
]

# --- sets -----------------------------------------------------------------------------


def title_of(file: str | list[str]) -> str:
    """Return what a table is called.

    Examples
    --------
    >>> title_of("-"), title_of("data/a.csv"), title_of(["a.csv", "b.csv"])
    ('<stdin>', 'a.csv', 'a.csv and 1 more')
    """
    if isinstance(file, list):
        return f"{Path(file[0]).name} and {len(file) - 1} more"
    return "<stdin>" if file == STREAM else Path(file).name


@dataclass(frozen=True, slots=True)
class Rows:
    """A table whose states something else knows, such as a network."""

    file: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE",
            help="Table: delimited text of any name (also .gz), .parquet, .arrow or "
            ".xlsx; several files, or a pattern such as 'part-*.csv', are the parts "
            "of one table; - reads stdin.",
            show_default=False,
        ),
    ]
    missing: Annotated[
        list[str] | None,
        repeated(
            "TEXT",
            "Text of a missing cell beside the empty one, in place of the usual (NA, "
            "NaN, null, None, ?)",
        ),
    ] = None
    discretize: Annotated[
        list[str] | None,
        repeated(
            "NAME=HOW",
            "Cut a numeric variable into intervals: age=4 (quantiles), "
            "age=uniform:4 (equal widths), age=cuts:18,65, or age=none; none alone "
            "cuts no variable",
        ),
    ] = None
    delimiter: Annotated[
        str | None,
        option("C", "What parts the fields of text: a character, tab or blanks."),
    ] = None
    decimal: Annotated[
        str | None, option("C", "Decimal mark of the numbers of a text file: . or ,")
    ] = None
    encoding: Annotated[
        str | None, option("NAME", "Encoding of a text file, such as cp1252.")
    ] = None
    header: Annotated[
        bool | None,
        flag(
            "--header/--no-header",
            "Whether the first line names the columns; found out by default.",
            show_default=False,
        ),
    ] = None
    names: Annotated[
        list[str] | None,
        option("A,B,...", "Names of the columns of a file that has none."),
    ] = None
    sheet: Annotated[
        str | None, option("NAME", "Sheet of an .xlsx file, or its number from 0.")
    ] = None

    @property
    def given(self) -> str | list[str]:
        """The file or, where the table is in several, all of them."""
        if len(self.file) > 1 and STREAM in self.file:
            message = "stdin (-) is a table of its own. Name it alone."
            raise UsageError(message)
        return self.file[0] if len(self.file) == 1 else self.file

    def seen_by_workers(self) -> str | list[str]:
        """Return the files that the workers of a cluster are to read."""
        if self.given == STREAM:
            message = "the workers of a cluster cannot read stdin (-). Name files."
            raise UsageError(message)
        return self.given

    @contextmanager
    def opened(self) -> Iterator[Path | str | list[str]]:
        """Give what the library reads the table from."""
        if isinstance(self.given, str) and not glob.has_magic(self.given):
            with input_path(self.given) as path:
                yield path
            return
        yield self.given

    def options(self) -> dict[str, Any]:
        """Return what the library takes."""
        delimiter = "\t" if self.delimiter in ("tab", "\\t") else self.delimiter
        is_number = self.sheet is not None and self.sheet.isdecimal()
        return {
            "missing": self.missing,
            "discretize": _discretize(self.discretize),
            "delimiter": delimiter,
            "decimal": self.decimal,
            "encoding": self.encoding,
            "header": self.header,
            "names": words(self.names),
            "sheet": int(self.sheet or 0) if is_number else self.sheet,
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the options in plain types, ready for JSON."""
        return {"file": self.given, **self.options()}

    @property
    def markers(self) -> Iterable[str]:
        """The texts that stand for a missing cell in what is written."""
        return MISSING_MARKERS if self.missing is None else self.missing


@dataclass(frozen=True, slots=True)
class Reading(Rows):
    """A table that is read by itself."""

    states: Annotated[
        list[str] | None, repeated("NAME=A,B,...", "States of a variable, in order")
    ] = None
    max_numeric_states: Annotated[
        int, option("N", "Most distinct numbers that are taken as states.")
    ] = defaults_of(IncompleteData.from_table).max_numeric_states
    model: Annotated[
        list[str] | None,
        option("A,B,...", "Columns to take as variables, whatever they look like."),
    ] = None
    pass_through: Annotated[
        list[str] | None,
        option("A,B,...", "Columns to keep as they are, outside the network."),
    ] = None
    drop: Annotated[list[str] | None, option("A,B,...", "Columns to leave out.")] = None
    weights: Annotated[
        str | None, option("NAME", "Column that says how much each row counts.")
    ] = None
    normalise: Annotated[
        bool, flag("--normalise", "Join labels that differ only in blanks or case.")
    ] = False

    def options(self) -> dict[str, Any]:
        """Return what the library takes."""
        states = pairs("--states", self.states)
        return {
            **Rows.options(self),
            "states": {name: _labels(text) for name, text in states.items()} or None,
            "max_numeric_states": self.max_numeric_states,
            "columns": self._columns(),
            "weights": self.weights,
            "normalise": self.normalise,
        }

    def table(self) -> IncompleteData:
        """Read the table."""
        with self.opened() as table:
            return IncompleteData.from_table(table, **self.options())

    @property
    def title(self) -> str:
        """What the table is called."""
        return title_of(self.given)

    def _columns(self) -> dict[str, str] | None:
        """Return what some columns are, each named once."""
        columns: dict[str, str] = {}
        for role in COLUMN_OPTIONS:
            for name in words(getattr(self, role.replace("-", "_"))) or []:
                if columns.setdefault(name, role) != role:
                    message = (
                        f"--{columns[name]} and --{role} both name {name!r}. Name it "
                        "in one of them."
                    )
                    raise UsageError(message)
        return columns or None


@dataclass(frozen=True, slots=True)
class Search:
    """What network to search for, and how long."""

    score: Annotated[
        str, option("NAME", "bdeu, bds, k2, bic, aic, qnml or loglik.")
    ] = _learn.score
    ess: Annotated[
        str | None,
        option(
            "X",
            "Equivalent sample size of bdeu, bds and the parameters, or auto: the one "
            "that predicts best; 1 by default.",
        ),
    ] = _learn.ess
    prior: Annotated[
        str | None,
        option(
            "NAME",
            "Structure prior: fair (k of m parents cost log C(m, k)) or uniform; "
            "fair by default for bdeu, bds and k2.",
        ),
    ] = _learn.prior
    max_parents: Annotated[int, option("N", "Largest number of parents.")] = (
        _learn.max_parents
    )
    required: Annotated[
        list[str] | None, repeated("A,B", "The arc A -> B must be there", "--require")
    ] = None
    forbidden: Annotated[
        list[str] | None,
        repeated("A,B", "The arc A -> B must not be there", "--forbid"),
    ] = None
    tiers: Annotated[
        list[str] | None,
        repeated(
            "A,B,...",
            "Variables of one tier, the earliest first; no arc leads back to an "
            "earlier tier",
            "--tier",
        ),
    ] = None
    time_limit: Annotated[
        float | None, option("S", "Seconds; no limit by default.")
    ] = _learn.time_limit
    seed: Seed = _learn.seed
    n_threads: Threads = _learn.n_threads

    def arguments(self) -> dict[str, Any]:
        """Return what the library takes."""
        return {
            "score": self.score,
            "ess": self._ess(),
            "prior": self.prior,
            "max_parents": self.max_parents,
            "constraints": Constraints(
                required=[_arc("--require", text) for text in self.required or []],
                forbidden=[_arc("--forbid", text) for text in self.forbidden or []],
                tiers=[split(text) for text in self.tiers or []],
            ),
            "time_limit": self.time_limit,
            "seed": self.seed,
            "n_threads": self.n_threads,
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the options in plain types, ready for JSON."""
        lists = {
            name: [split(text) for text in getattr(self, name) or []]
            for name in ("required", "forbidden", "tiers")
        }
        plain = {**asdict(self), **lists, "threads": self.n_threads}
        del plain["n_threads"]
        return {**plain, "ess": self._ess()}

    def _ess(self) -> float | str | None:
        """Return a number where the option is one; of other words the library tells."""
        try:
            return None if self.ess is None else float(self.ess)
        except ValueError:
            return self.ess


@dataclass(frozen=True, slots=True)
class Folder:
    """Where the files of a result go."""

    out: Annotated[Path, option("DIR", "Folder for the files; made if needed.")]
    json: Json = False
    force: Force = False

    def check(
        self, names: Iterable[str], proof: str | None = None, *, goes_on: bool = False
    ) -> None:
        """Refuse, before any work, what cannot or must not be written.

        `proof` is a file that is written on the way, perhaps to this folder, and may be
        there where a run that was killed `goes_on`.
        """
        if self.out.exists() and not self.out.is_dir():
            message = f"'{self.out}' is a file. Name a folder with --out."
            raise ParameterError(message)
        hold(kept_from_others(self.out))
        self._check_files(names)
        if proof is not None:
            if Path(proof).parent.resolve() == self.out.resolve():
                hold(there_meanwhile(self.out))
            check_outputs([Path(proof)], force=self.force or goes_on)

    def write(
        self,
        contents: Mapping[str, str | Callable[[Path], None]],
        *,
        earlier: str = "",
    ) -> None:
        """Write texts, and let functions write: all files, or none of them.

        Files of an earlier result that match `earlier` do not stay among them.
        """
        self._check_files(contents)
        write_folder(self.out, contents, earlier=earlier if self.force else "")

    def _check_files(self, names: Iterable[str]) -> None:
        if self.out.is_dir():
            check_outputs([self.out / name for name in names], force=self.force)


def command_of(function: Callable[..., Any], **settings: Any) -> Any:
    """Make the command of a function, by its name."""
    alone = typer.Typer(add_completion=False, **settings)
    alone.command(function.__name__, cls=Command)(spread(function))
    return typer.main.get_command(alone)


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """Make an option of each field of the sets a command takes, and add ``--debug``."""
    sets: dict[str, type] = {}
    options: list[inspect.Parameter] = []
    for parameter in inspect.signature(command).parameters.values():
        if is_dataclass(kind := parameter.annotation) and isinstance(kind, type):
            sets[parameter.name] = kind
            options += inspect.signature(kind).parameters.values()
        else:
            options.append(parameter)
    debug = inspect.Parameter("debug", _BY_NAME, default=False, annotation=Debug)

    @wraps(command)
    def run(**given: Any) -> None:
        del given["debug"]
        for name, kind in sets.items():
            names = inspect.signature(kind).parameters
            given[name] = kind(**{option: given.pop(option) for option in names})
        command(**given)

    by_name = [option.replace(kind=_BY_NAME) for option in (*options, debug)]
    run.__signature__ = inspect.Signature(by_name)  # type: ignore[attr-defined]
    return run


_BY_NAME = inspect.Parameter.KEYWORD_ONLY
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")

# --- what the texts of options mean ---------------------------------------------------


def split(text: str) -> list[str]:
    """Split at commas; quotes protect a comma.

    Examples
    --------
    >>> split('a,"b,c"')
    ['a', 'b,c']
    """
    return next(csv.reader([text]), [])


def words(texts: Iterable[str] | None) -> list[str] | None:
    """Return the words of an option that may be repeated; None where not given."""
    return [word for text in texts for word in split(text)] if texts else None


def pairs(
    option: str, texts: Iterable[str] | None, *, at_last: bool = False
) -> dict[str, str]:
    """Read an option of pairs that may be repeated.

    Examples
    --------
    >>> pairs("--given", ["smoke=yes", "xray=no"])
    {'smoke': 'yes', 'xray': 'no'}
    """
    found: dict[str, str] = {}
    for text in texts or []:
        name, rest = pair(option, text, at_last=at_last)
        if found.setdefault(name, rest) != rest:
            message = f"{option} has two values for {name!r}. Give one."
            raise UsageError(message)
    return found


def pair(option: str, text: str, *, at_last: bool = False) -> tuple[str, str]:
    """Split ``NAME=REST`` at the first equals sign or the last.

    Raises a usage error where there is none.

    Examples
    --------
    >>> pair("--states", "income=<=50K,>50K")
    ('income', '<=50K,>50K')
    >>> pair("--discretize", "a=b=4", at_last=True)
    ('a=b', '4')
    """
    name, equals, rest = text.rpartition("=") if at_last else text.partition("=")
    if not (name and equals and rest):
        message = f"{option} must look like NAME=VALUE. Got {text!r} instead."
        raise UsageError(message)
    return name, rest


def _arc(option: str, text: str) -> tuple[str, str]:
    names = split(text)
    if len(names) != 2:
        message = f"{option} must look like PARENT,CHILD. Got {text!r} instead."
        raise UsageError(message)
    return names[0], names[1]


def _labels(text: str) -> list[Label]:
    """Split states; what reads as a whole number, True or False becomes one.

    A table of text compares them as text all the same.

    Examples
    --------
    >>> _labels("0,1,007,True,yes")
    [0, 1, '007', True, 'yes']
    """
    known: dict[str, Label] = {"True": True, "False": False}
    labels: list[Label] = []
    for word in split(text):
        is_whole = word.removeprefix("-").isdecimal() and str(int(word)) == word
        labels.append(int(word) if is_whole else known.get(word, word))
    return labels


def _discretize(texts: Sequence[str] | None) -> Any:
    """Read ``--discretize``: the cuts of some variables, or none of any.

    Examples
    --------
    >>> _discretize(None), _discretize(["none"]), _discretize(["age=4", "bmi=none"])
    ('auto', None, {'age': 4, 'bmi': None})
    """
    if not texts or list(texts) == ["auto"]:
        return "auto"
    if list(texts) == ["none"]:
        return None
    # How a variable is cut holds no equals sign, but its name may.
    how = pairs("--discretize", texts, at_last=True)
    return {name: _cutting(text) for name, text in how.items()}


def _cutting(text: str) -> Any:
    """Read how ``--discretize`` cuts a variable.

    Examples
    --------
    >>> [_cutting(text) for text in ("4", "uniform:3", "cuts:18,65", "none")]
    [4, ('uniform', 3), [18.0, 65.0], None]
    >>> _cutting("cuts:2009-01-01,2011-01-01")
    ['2009-01-01', '2011-01-01']
    """
    if text in ("none", "auto"):
        return None if text == "none" else "auto"
    method, _, amount = text.rpartition(":")
    try:
        if text.startswith("cuts:"):
            return _cut_points(text.removeprefix("cuts:"))
        if method in ("quantile", "uniform"):
            return method, int(amount)
        return int(text)
    except ValueError:
        message = (
            "--discretize must look like age=4, age=uniform:4, age=cuts:18,65 or "
            f"age=none. Got {text!r} instead."
        )
        raise UsageError(message) from None


def _cut_points(text: str) -> list[float] | list[str]:
    """Return numbers, or dates as they are."""
    points = text.split(",")
    if all(_DATE.match(point) for point in points):
        return points
    return [float(point) for point in points]


def read_net(net: str) -> Network:
    """Read the network an argument names: a file, stdin, or one that is shipped."""
    return _read(net, read_network)


def read_any(net: str) -> Model:
    """Read the network or the ensemble that an argument names, or its result."""
    folder = Path(net)
    inside = (folder / name for name in (ENSEMBLE, NETWORK))
    found = next((path for path in inside if path.is_file()), folder)
    return _read(str(found), _read_any)


def _read_any(path: Path) -> Model:
    facts = _facts_of(path)
    if facts is None:
        return read_model(path)
    beside = path.parent / NETWORK
    if "saved" not in facts and beside.is_file():
        message = f"'{path}' holds facts alone. Name '{beside}', which is beside it."
        raise ParameterError(message)
    result = read_result(path)
    return result.mixture if isinstance(result, Ensemble) else result.network


def _facts_of(path: Path) -> dict[str, Any] | None:
    """Return what a result.json tells; None of a file that is a network itself."""
    if file_suffix(path) != ".json":
        return None
    try:
        known = json.loads(read_source(path).text)
    except (RecursionError, ValueError):
        return None  # which reading it as a network tells better
    is_result = isinstance(known, dict) and "certificate" in known
    return known if is_result else None


def _read(net: str, read: Callable[[Path], _M]) -> _M | Network:
    if Path(net).is_dir():
        raise ParameterError(_folder_in_words(Path(net)))
    if net == STREAM or Path(net).exists():
        with input_path(net, network_suffix) as path:
            return read(path)
    known = available_networks()
    if net in known:
        return load_network(net)
    message = (
        f"there is no file '{net}' and no shipped network of that name. "
        f"Shipped: {', '.join(known)}."
    )
    raise ParameterError(message)


def _folder_in_words(folder: Path) -> str:
    """Say that a network is a file, and which one of a folder it may be."""
    inside = folder / NETWORK
    name = f"'{inside}', which is" if inside.is_file() else "a network file"
    return f"'{folder}' is a directory. Name {name} in it."
