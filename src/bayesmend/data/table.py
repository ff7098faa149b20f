"""IncompleteData: a table of categorical variables, some of its cells missing.

What every later step starts from. User input is checked on the way here, in
``encode``, and when an ``IncompleteData`` is made; below, only assertions remain.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self, Unpack, get_args

import numpy as np
from numpy.typing import NDArray

from bayesmend._checks import (
    check_choice,
    check_flag,
    check_integer,
)
from bayesmend._copies import frozen_in_copies
from bayesmend._entrance import entrance
from bayesmend._files import PathLike, write_chunks
from bayesmend._formulas import without_formulas
from bayesmend._packages import require
from bayesmend._shown import Shown
from bayesmend._spelling import spell
from bayesmend.data.csv import (
    CsvSource,
    csv_chunks,
    default_delimiter,
    name_weights,
    text_chunks,
)
from bayesmend.data.discretize import Discretization
from bayesmend.data.encode import check_codes, check_weights, encode
from bayesmend.data.files import check_character
from bayesmend.data.parts import open_any
from bayesmend.data.patterns import Patterns, find_patterns
from bayesmend.data.reading import Columns, Discretize, Reading, ReadingOptions
from bayesmend.data.restore import Contents, Fill, restore_table
from bayesmend.data.schema import Schema
from bayesmend.data.sources import Origin
from bayesmend.data.states import (
    MISSING,
    MISSING_MARKERS,
    Label,
    as_label,
    check_names,
    file_markers,
    position_of,
    quantity,
)
from bayesmend.data.summary import Summary, summarize
from bayesmend.data.written import needs_source, table_texts
from bayesmend.errors import DataError, ParameterError


@frozen_in_copies
@dataclass(frozen=True, slots=True, repr=False, eq=False)
class IncompleteData(Shown):
    """A table of categorical variables, some of its cells missing.

    Make one with :meth:`from_table`, :meth:`from_csv` or :meth:`from_codes`.

    Parameters
    ----------
    names : tuple of str
        Names of the variables.
    states : tuple of tuple
        Labels of the states of every variable, in the order of their codes.
    codes : ndarray of shape (n_rows, n_vars)
        ``uint8`` codes in Fortran order, read-only; 255 is a missing cell.
    weights : ndarray of shape (n_rows,), optional
        How much each row counts; None when each counts once.
    origin : Origin
        What was read, for :meth:`to_table`.
    discretization : Discretization, optional
        The rule by which variables were cut into intervals; pass it as
        ``discretize=`` to cut new data at the same points.
    schema : Schema, optional
        What was made of each column of the table that was read.
    notes : tuple of str
        What was found out about the file that was read, and might be wrong: its
        encoding, header, delimiter, sheet.

    Examples
    --------
    >>> table = {"smoke": ["yes", None, "no"], "cough": [1, 1, 0]}
    >>> data = IncompleteData.from_table(table)
    >>> data
    IncompleteData(3 rows, 2 variables, 1 missing cell)
    >>> data.states
    (('no', 'yes'), (0, 1))
    >>> data.codes.tolist()
    [[1, 1], [255, 1], [0, 0]]
    """

    names: tuple[str, ...]
    states: tuple[tuple[Label, ...], ...]
    codes: NDArray[np.uint8]
    weights: NDArray[np.float64] | None = None
    origin: Origin = field(default=Origin())
    discretization: Discretization | None = None
    schema: Schema | None = None
    notes: tuple[str, ...] = ()
    _card: NDArray[np.int32] = field(init=False)

    def __post_init__(self) -> None:
        _set(self, "names", check_names(self.names, None))
        _set(self, "states", tuple(tuple(labels) for labels in self.states))
        _set(self, "codes", check_codes(self.codes, self.names, self.states))
        if self.weights is not None:
            _set(self, "weights", check_weights(self.weights, self.n_rows))
        card = np.array([len(labels) for labels in self.states], dtype=np.int32)
        card.setflags(write=False)
        _set(self, "_card", card)

    @classmethod
    @entrance
    def from_table(
        cls,
        table: Any,
        *,
        states: Mapping[str, Iterable[Label]] | None = None,
        weights: Any = None,
        columns: Columns | None = None,
        discretize: Discretize | None = "auto",
        max_numeric_states: int = 20,
        normalise: bool = False,
        missing: Iterable[str | float] | str | float | None = None,
        names: Sequence[str] | None = None,
        delimiter: str | None = None,
        decimal: str | None = None,
        encoding: str | None = None,
        header: bool | None = None,
        sheet: str | int | None = None,
    ) -> Self:
        """Read a table in memory or in a file.

        The states of a variable are the values that occur: numbers and numeric text
        in ascending order, other text in the order of its characters, False before
        True. A pandas categorical, a polars enum and an Arrow dictionary declare
        their states themselves, unused ones too.

        Parameters
        ----------
        table : path, data frame, array, mapping or IncompleteData
            A file (delimited text of any suffix, also packed by gzip; .xlsx,
            .parquet, .arrow, .feather, .ipc), a pandas, polars or pyarrow frame, a
            two-dimensional NumPy array of numbers, booleans, text or objects, or a
            mapping of names to columns. A list of files, or a pattern such as
            ``"part-*.parquet"``, stands for one table, its rows below each other; these
            and files of text beyond 256 MB are read in batches, into a byte per cell.
            An ``IncompleteData`` is returned as it is.
        states : mapping of str to iterable of labels, optional
            States of some variables, in order. They may contain states that the data
            lack; a value outside them is an error. For text they compare as text.
        weights : array of shape (n_rows,) or str, optional
            Row weights, finite and >= 0, or the name of the column that holds them. A
            row of weight 2 counts as two rows, for intervals of equal frequency too.
        columns : mapping or sequence of str, optional
            What some columns are: ``"model"``, ``"pass-through"`` or ``"drop"``, by
            name; or the names of those to model, the others being passed through. By
            default columns that cannot be modelled are passed through: without a value
            or with one only, dates, identifiers, free text, mixed types and objects.
        discretize : "auto", mapping, Discretization or None, default="auto"
            How numbers are cut into intervals. A mapping speaks for its variables:
            a number of intervals, a way with that number, or cut points, as in
            :func:`fit_discretization`; None keeps the numbers of a variable as states.
            A ``Discretization`` is the rule of another table. All other variables are
            ``"auto"``: more than 5 distinct numbers, unless each of at most
            `max_numeric_states` occurs 10 times on average, are cut into intervals of
            equal frequency, 2 to 8 of them as the rows allow. None cuts nothing.
        max_numeric_states : int, default=20
            The most distinct numbers that are states without being asked.
        normalise : bool, default=False
            Whether labels that differ only in blanks or case are one: the spelling
            that is declared, or the most frequent, stands for all.
        missing : iterable of str or number, optional
            What stands for a missing cell. Text is compared without blanks around it,
            a number as a number: -9 and "-9" are the same, and so is -9.0. By default,
            in a text file or workbook, an empty cell, NA, NaN, nan, null, None and ?;
            in memory, none. None, NaN, NaT and null are always missing,
            and so is an empty field of a text file, unless the list is empty.
        names : sequence of str, optional
            Names of the columns in place of the table's own. A file is then taken to
            have no header, unless ``header`` says so.
        delimiter : str, optional
            What parts the fields of a text: one character, or "blanks" for runs of
            blanks. Found out unless given, as the following are.
        decimal : {".", ","}, optional
            The mark before the decimals of numbers in a text.
        encoding : str, optional
            The encoding of a text, by the name that Python knows.
        header : bool, optional
            Whether the first line of a text or sheet names the columns; those without
            a name are called x0, x1, ... by their position.
        sheet : str or int, optional
            Name or number (from 0) of the sheet of a workbook; by default the first
            one that has cells.

        Warns
        -----
        ReadingWarning
            Once, with all that was guessed and the options that settle it.

        Raises
        ------
        DataError
            When the table cannot be used as it is; the message says where and why.

        Examples
        --------
        >>> table = {"smoke": ["yes", None, "no"], "age": [31, 58, 44]}
        >>> data = IncompleteData.from_table(
        ...     table, states={"smoke": ["no", "yes", "often"]}, discretize={"age": 2}
        ... )
        >>> data.states
        (('no', 'yes', 'often'), ('<=44', '>44'))
        """
        options = ReadingOptions(
            states=states,
            weights=weights,
            columns=columns,
            discretize=discretize,
            max_numeric_states=max_numeric_states,
            normalise=normalise,
            missing=missing,
            names=names,
            delimiter=delimiter,
            decimal=decimal,
            encoding=encoding,
            header=header,
            sheet=sheet,
        )
        if isinstance(table, cls):
            return table._with_options(options)
        return cls(*encode(open_any(table, options.file), options))

    @classmethod
    @entrance
    def from_csv(
        cls,
        path: PathLike,
        *,
        delimiter: str | None = None,
        states: Mapping[str, Iterable[Label]] | None = None,
        weights: Any = None,
        columns: Columns | None = None,
        discretize: Discretize | None = "auto",
        max_numeric_states: int = 20,
        normalise: bool = False,
        missing: Iterable[str | float] | str | float | None = None,
        names: Sequence[str] | None = None,
        decimal: str | None = None,
        encoding: str | None = None,
        header: bool | None = None,
    ) -> Self:
        """Read delimited text.

        Parameters
        ----------
        path : path
            The file, packed by gzip or not, whatever its suffix.
        delimiter : str, optional
            One character, or "blanks" for runs of blanks. By default the one of comma,
            tab, semicolon, bar and blanks by which all lines have as many fields.
        states, weights, columns, discretize, max_numeric_states, normalise, missing
            As in :meth:`from_table`.
        names, decimal, encoding, header
            As in :meth:`from_table`.

        Notes
        -----
        Quotes follow RFC 4180: a quoted field may hold delimiters, line ends and
        doubled quotes. Labels are text and keep blanks around them, unless a blank
        follows every delimiter. Quoting does not protect a missing marker. Blank lines
        before and after the table are ignored.
        """
        options = ReadingOptions(
            states=states,
            weights=weights,
            columns=columns,
            discretize=discretize,
            max_numeric_states=max_numeric_states,
            normalise=normalise,
            missing=missing,
            names=names,
            delimiter=delimiter,
            decimal=decimal,
            encoding=encoding,
            header=header,
        )
        return cls(*encode(CsvSource(path, options.file), options))

    @classmethod
    @entrance
    def from_codes(
        cls,
        codes: NDArray[np.uint8],
        *,
        names: Sequence[str],
        states: Sequence[Sequence[Label]],
        weights: Any = None,
    ) -> Self:
        """Wrap a table that is coded already.

        Parameters
        ----------
        codes : ndarray of shape (n_rows, n_vars)
            ``uint8`` codes, 255 where missing. Copied unless in Fortran order and
            read-only.
        names : sequence of str
            Names of the variables.
        states : sequence of sequence
            Labels of the states of every variable, in the order of their codes.
        weights : array of shape (n_rows,), optional
            Row weights, finite and >= 0.

        Examples
        --------
        >>> codes = np.array([[0], [255]], dtype=np.uint8)
        >>> IncompleteData.from_codes(codes, names=["a"], states=[("no", "yes")])
        IncompleteData(2 rows, 1 variable, 1 missing cell)
        """
        labels = tuple(tuple(as_label(s) for s in per_name) for per_name in states)
        return cls(tuple(names), labels, codes, weights)

    def _with_options(self, options: ReadingOptions) -> Self:
        for name in options.given:
            if name != "weights":
                message = (
                    f"{spell(name)} cannot change an IncompleteData. Pass the table it"
                    " was read from."
                )
                raise ParameterError(message)
        if options.weights is None:
            return self
        origin = replace(self.origin, weights=None)
        return replace(self, weights=options.weights, origin=origin)

    def pick(self, rows: NDArray[np.intp]) -> Self:
        """Return some of the rows, of the same variables and states.

        What the table was read from stays behind.

        Examples
        --------
        >>> data = IncompleteData.from_table({"a": ["x", None, "y"], "b": [1, 2, 1]})
        >>> data.pick(np.array([2, 0])).codes.tolist()
        [[1, 0], [0, 0]]
        """
        return type(self).from_codes(
            np.asfortranarray(self.codes[rows]),
            names=self.names,
            states=self.states,
            weights=None if self.weights is None else self.weights[rows],
        )

    def with_codes(self, codes: NDArray[np.uint8]) -> Self:
        """Return the same variables and rows with other cells.

        Parameters
        ----------
        codes : ndarray of shape (n_rows, n_vars)
            ``uint8`` codes, 255 where missing.

        Examples
        --------
        >>> data = IncompleteData.from_table({"a": ["x", None, "y"], "b": [1, 2, 1]})
        >>> data.with_codes(np.zeros((3, 2), dtype=np.uint8)).to_table()
        {'a': ['x', 'x', 'x'], 'b': [1, 1, 1]}
        """
        if np.shape(codes) != self.codes.shape:
            message = (
                f"codes must have shape {self.codes.shape}. Got {np.shape(codes)}"
                " instead."
            )
            raise ParameterError(message)
        return replace(self, codes=codes)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.codes.shape[0])

    @property
    def n_vars(self) -> int:
        """Number of variables."""
        return len(self.names)

    def __len__(self) -> int:
        return self.n_rows

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of variables."""
        return self.n_rows, self.n_vars

    @property
    def card(self) -> NDArray[np.int32]:
        """Number of states of every variable."""
        return self._card

    @property
    def missing_mask(self) -> NDArray[np.bool_]:
        """True where a cell is missing, shape (n_rows, n_vars)."""
        return np.equal(self.codes, MISSING)

    @property
    def n_missing(self) -> int:
        """Number of missing cells."""
        return int(np.count_nonzero(self.codes == MISSING))

    @property
    def is_complete(self) -> bool:
        """Whether no cell is missing."""
        return self.n_missing == 0

    def index(self, name: str) -> int:
        """Return the position of a variable.

        Examples
        --------
        >>> data = IncompleteData.from_table({"smoke": ["no", "yes"], "cough": [1, 2]})
        >>> data.index("cough")
        1
        >>> data.index("cogh")
        Traceback (most recent call last):
        ...
        bayesmend.errors.DataError: no variable named 'cogh'. Available: smoke, cough.
        """
        return position_of(name, self.names)

    def to_table(self, *, fill: Fill = "number") -> Any:
        """Return the table that was read, with the cells that are other than then.

        A frame comes back as a frame of the same library, an array as an array, a
        mapping as a mapping, and every observed cell as it was, with its type. A file,
        or codes, come back as a frame of the first of pandas, polars and pyarrow that
        is installed, else as an object array; columns of a file in which every cell is
        a number hold numbers. An integer column that has gained missing cells comes
        back as floats where its library knows no missing integers.

        Parameters
        ----------
        fill : {"number", "interval"}, default="number"
            How variables that were cut into intervals come back. ``number``: observed
            numbers as they were, and a filled cell as the median of the observed
            numbers of its interval, rounded as they are. ``interval``: all of them as
            intervals.

        Examples
        --------
        >>> IncompleteData.from_table({"a": ["x", "y"], "b": [2, 1]}).to_table()
        {'a': ['x', 'y'], 'b': [2, 1]}
        """
        check_choice("fill", fill, get_args(Fill))
        return restore_table(self.origin, self._contents, fill=fill)

    @property
    def _contents(self) -> Contents:
        rule = self.discretization
        numbers = tuple(
            rule.numbers_of(name) if rule is not None and name in rule.names else None
            for name in self.names
        )
        return Contents(self.names, self.states, self.codes, self.weights, numbers)

    def head(self, n: int = 5) -> Any:
        """Return the first rows, as a table of the kind that was read.

        They are the first rows of :meth:`to_table`, made without the others.

        Parameters
        ----------
        n : int, default=5
            How many rows; all when the table has fewer.

        Examples
        --------
        >>> IncompleteData.from_table({"a": ["x", None, "y"], "b": [2, 1, 2]}).head(2)
        {'a': ['x', None], 'b': [2, 1]}
        """
        n_rows = check_integer("n", n)
        return restore_table(self.origin, self._contents, n_rows=n_rows)

    def to_pandas(self, *, fill: Fill = "number") -> Any:
        """Return a pandas frame, as :meth:`to_table` does for a table that was one.

        Another kind of table gets pandas types that hold its labels.

        Parameters
        ----------
        fill : {"number", "interval"}, default="number"
            How variables that were cut come back, as in :meth:`to_table`.

        Examples
        --------
        >>> data = IncompleteData.from_table({"a": ["x", "y"], "b": [2, 1]})
        >>> data.to_pandas()["b"].tolist()
        [2, 1]
        """
        return self._as_frame("pandas", fill)

    def to_polars(self, *, fill: Fill = "number") -> Any:
        """Return a polars frame, as :meth:`to_table` does for a table that was one.

        Another kind of table gets polars types that hold its labels.

        Parameters
        ----------
        fill : {"number", "interval"}, default="number"
            How variables that were cut come back, as in :meth:`to_table`.

        Examples
        --------
        >>> data = IncompleteData.from_table({"a": ["x", None, "y"], "b": [2, 1, 1]})
        >>> data.to_polars().rows()
        [('x', 2), (None, 1), ('y', 1)]
        """
        return self._as_frame("polars", fill)

    def _as_frame(self, kind: str, fill: Fill) -> Any:
        check_choice("fill", fill, get_args(Fill))
        require(kind)
        return restore_table(self.origin, self._contents, kind=kind, fill=fill)

    def labels_of_rows(self, rows: NDArray[np.intp]) -> NDArray[np.object_] | None:
        """Return what the table itself calls some rows; None when it numbers them.

        Only a pandas frame has row labels, and one whose index merely counts from 0
        has none of its own.
        """
        labels = self.origin.row_labels
        return None if labels is None else labels[rows]

    def write_csv(
        self,
        path: PathLike,
        *,
        delimiter: str | None = None,
        missing: Iterable[str | float] = MISSING_MARKERS,
        weights: str | None = None,
        fill: Fill = "number",
        safe: bool = False,
    ) -> None:
        """Write delimited text that reads back with the same labels.

        Fields that were observed in a file are written just as they were read. The file
        appears whole or not at all, packed when its name ends in .gz.

        Parameters
        ----------
        path : path
            The file to write or replace.
        delimiter : str, optional
            By default a tab for .tsv and .tab; for any other name what parted the
            fields of the file that was read (comma, semicolon, tab or bar), or a comma.
        missing : iterable of str or number
            The markers the file will be read with. Missing cells are written empty. A
            state that equals a marker is an error.
        weights : str, optional
            Name of the column for the row weights, which comes last; by default the
            one they were read from. Needed when they came without a name.
        fill : {"number", "interval"}, default="number"
            How variables that were cut into intervals are written, as in
            :meth:`to_table`.
        safe : bool, default=False
            Whether text that a spreadsheet would take for a formula (it begins with
            ``=``, ``+``, ``-`` or ``@``, and is no number) gets an apostrophe in front.
        """
        check_flag("safe", safe)
        if safe:
            with without_formulas():
                self.write_csv(
                    path,
                    delimiter=delimiter,
                    missing=missing,
                    weights=weights,
                    fill=fill,
                )
            return
        mark = check_character(delimiter) or default_delimiter(
            path, self.origin.delimiter
        )
        chunks = self.csv_chunks(mark, missing=missing, weights=weights, fill=fill)
        write_chunks(path, chunks)

    def csv_chunks(
        self,
        delimiter: str,
        *,
        missing: Iterable[str | float] = MISSING_MARKERS,
        weights: str | None = None,
        fill: Fill = "number",
    ) -> Iterator[bytes]:
        """Return what :meth:`write_csv` writes, piece by piece, the header first."""
        check_choice("fill", fill, get_args(Fill))
        decimal = self.origin.decimal
        named = name_weights(self.weights, self.origin, self.names, weights)
        held = self._contents
        if needs_source(self.origin, held, fill):
            markers = file_markers(missing)
            names, columns = table_texts(
                self.origin, held, markers, fill=fill, weights=named
            )
            return text_chunks(names, columns, delimiter, decimal)
        return csv_chunks(
            self.names,
            self.states,
            self.codes,
            weights=named,
            missing=missing,
            delimiter=delimiter,
            decimal=decimal,
        )

    def patterns(self) -> Patterns:
        """Return the distinct rows with their multiplicities and missing cells.

        Examples
        --------
        >>> table = {"a": ["x", None, "x", "y"], "b": ["u", "v", "u", "v"]}
        >>> IncompleteData.from_table(table).patterns()
        Patterns(3 distinct rows of 4: 2 complete, 1 incomplete)
        """
        return find_patterns(self.codes, self.weights)

    def summary(self) -> Summary:
        """Describe variables, missing cells and patterns; ``print`` the result.

        Examples
        --------
        >>> data = IncompleteData.from_table({"a": ["x", None, "y"], "b": [1, 2, 1]})
        >>> data.summary().to_dict()["n_complete_rows"]
        2
        """
        return summarize(
            self.names,
            self.states,
            self.codes,
            self.weights,
            self.origin.marker_counts,
            () if self.schema is None else self.schema.columns,
        )

    def __repr__(self) -> str:
        cells = quantity(self.n_missing, "missing cell")
        size = f"{quantity(self.n_rows, 'row')}, {quantity(self.n_vars, 'variable')}"
        weighted = ", weighted" if self.weights is not None else ""
        return f"{type(self).__name__}({size}, {cells}{weighted})"

    def __eq__(self, other: object) -> bool:
        """Compare names, states, cells and weights; the origin does not matter."""
        if not isinstance(other, IncompleteData):
            return NotImplemented
        mine, theirs = self.weights, other.weights
        same = mine is theirs or (
            mine is not None and theirs is not None and np.array_equal(mine, theirs)
        )
        is_same_shape = (self.names, self.states) == (other.names, other.states)
        return same and is_same_shape and np.array_equal(self.codes, other.codes)

    __hash__ = None  # type: ignore[assignment]


@entrance
def summary(table: Any, **reading: Unpack[Reading]) -> Summary:
    """Describe a table: variables, missing cells and patterns; ``print`` the result.

    Parameters
    ----------
    table : path, data frame, array, mapping or IncompleteData
        The table.
    {reading}

    Returns
    -------
    Summary
        Also what was made of each column.

    Examples
    --------
    >>> summary({"a": ["x", None, "y"], "b": ["u", "v", "u"]}).n_missing
    1
    """
    return IncompleteData.from_table(table, **reading).summary()


def read_variables(
    table: Any, variables: Iterable[str], **reading: Unpack[Reading]
) -> IncompleteData:
    """Read a table in which some columns are variables, whatever they look like.

    A graph names its variables; a constant among them is one all the same. The caller's
    own ``columns=`` come first.

    Examples
    --------
    >>> read_variables({"a": ["x", "x"], "b": ["u", "v"]}, ["a", "b"]).names
    ('a', 'b')
    """
    if not isinstance(table, IncompleteData) and reading.get("columns") is None:
        reading["columns"] = dict.fromkeys(variables, "model")
    return IncompleteData.from_table(table, **reading)


def require_complete(
    data: IncompleteData, purpose: str, remedy: str = "Complete the table first."
) -> None:
    """Raise ``DataError`` if a cell is missing, naming the first one."""
    if data.is_complete:
        return
    row, variable = np.argwhere(data.missing_mask)[0].tolist()
    message = (
        f"variable {data.names[variable]!r} is missing in row {row}, and {purpose}"
        f" needs complete data (missing cells in all: {data.n_missing}). {remedy}"
    )
    raise DataError(message)


def require_rows(data: IncompleteData) -> None:
    """Raise ``DataError`` when there is nothing to learn from."""
    if data.n_rows == 0 or data.n_vars == 0:
        message = (
            f"the table has {quantity(data.n_rows, 'row')} and"
            f" {quantity(data.n_vars, 'variable')}, so there is nothing to learn from."
            " Give it at least one of each."
        )
        raise DataError(message)


def _set(data: IncompleteData, name: str, value: object) -> None:
    object.__setattr__(data, name, value)  # the one way to fill a frozen dataclass
