"""What the bytes of a text file say of themselves: encoding, delimiter, header.

Pure functions of bytes and text. Nothing here knows of files, and nothing is decided
by a name: a suffix only breaks ties.
"""

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import NamedTuple, TypeAlias

from bayesmend.data.files import BLANK_RUNS
from bayesmend.data.states import BLANKS, MISSING_MARKERS, is_number_text

DELIMITERS = (",", "\t", ";", "|", BLANK_RUNS)

Rows: TypeAlias = list[list[str]]

_MAX_ROWS = 1000
_ENOUGH_ROWS = 20
_RATED_ROWS = 100
_FEW = 8
_SAMPLE_BYTES = 1 << 16
_LARGEST_SAMPLE = 1 << 23


@dataclass(frozen=True, slots=True)
class Layout:
    r"""How a text is laid out.

    Parameters
    ----------
    delimiter : str
        One character, or "blanks" for runs of blanks.
    skips_blanks : bool
        Whether blanks after a delimiter belong to it.
    line_end : {"\n", "\r"}
        What ends a line; a carriage return before a line feed belongs to it.
    quote : str
        What stands around fields that hold delimiters.
    decimal : {".", ","}
        The mark before the decimals of a number.
    has_header : bool
        Whether the first line names the columns.
    begin : int
        Position of the first line that counts, in bytes.
    first_line : {"", "before", "after"}
        Where the first line lacks the delimiter of a column that has no name there.
    looks_like : {"", "header", "data"}
        What the first line looks like; empty when nothing speaks for either.
    doubtful : tuple of str
        Columns of the sample whose numbers may have decimals, or marks between
        thousands: one number each.
    unread : tuple of str
        Columns of the sample whose numbers have another mark than the decimals
        elsewhere, or marks between thousands, so that they are text: one number each.
    has_comma : bool
        Whether numbers of the sample were found to have a decimal comma.
    """

    delimiter: str
    skips_blanks: bool
    line_end: str
    quote: str
    decimal: str
    has_header: bool
    begin: int
    first_line: str = ""
    looks_like: str = ""
    doubtful: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    has_comma: bool = False


# --- bytes to text ------------------------------------------------------------------

_BYTE_ORDER_MARKS = (  # the longer ones first: UTF-32 begins as UTF-16 does
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_STEP = 1 << 20


def byte_order_mark(content: bytes) -> tuple[bytes, str | None]:
    """Return the byte order mark of a text and the encoding that it tells."""
    for mark, encoding in _BYTE_ORDER_MARKS:
        if content.startswith(mark):
            return mark, encoding
    return b"", None


def find_encoding(content: bytes) -> str:
    """Return the name of the encoding that a text most probably is in.

    Examples
    --------
    >>> find_encoding("é".encode()), find_encoding("1;é".encode("cp1252"))
    ('utf-8', 'cp1252')
    >>> find_encoding("a,b".encode("utf-16"))
    'utf-16-le'
    """
    _, marked = byte_order_mark(content)
    if marked is not None:
        return marked
    wide = _find_wide(content)
    if wide is not None:
        return wide
    if content.isascii() or is_encoded(content, "utf-8") or _is_mostly_utf8(content):
        return "utf-8"
    return "cp1252" if is_encoded(content, "cp1252") else "latin-1"


def is_encoded(content: bytes, encoding: str) -> bool:
    """Tell whether bytes can be read in an encoding, whose state may span steps."""
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        for first in range(0, len(content), _STEP):
            decoder.decode(content[first : first + _STEP])
        decoder.decode(b"", final=True)
    except UnicodeError:
        return False
    return True


def _find_wide(content: bytes) -> str | None:
    """Recognise UTF-16 without a mark by the zeros of its delimiters and line ends."""
    if b"\0" not in content[:_STEP] or len(content) % 2:
        return None
    sample = content[:_STEP]
    n_even, n_odd = sample[::2].count(0), sample[1::2].count(0)
    share = max(n_even, n_odd) / max(1, len(sample) // 2)
    encoding = "utf-16-be" if n_even else "utf-16-le"
    is_clear = min(n_even, n_odd) == 0 and share >= 0.2
    return encoding if is_clear and is_encoded(content, encoding) else None


def _is_mostly_utf8(content: bytes) -> bool:
    """Tell broken UTF-8 from another encoding: most letters beyond ASCII are right."""
    text = content.decode("utf-8", errors="surrogateescape")
    beyond = re.findall(r"[^\x00-\x7f]", text)
    n_wrong = sum("\udc80" <= letter <= "\udcff" for letter in beyond)
    return bool(len(beyond) > 2 * n_wrong)


# --- text to layout -----------------------------------------------------------------


def sniff(
    text: bytes,
    *,
    delimiter: str | None = None,
    decimal: str | None = None,
    header: bool | None = None,
    usual: str | None = None,
) -> Layout:
    r"""Find out how a text in UTF-8 is laid out.

    Parameters
    ----------
    text : bytes
        The text, with or without a byte order mark.
    delimiter, decimal, header
        What is known already; None is found out.
    usual : str, optional
        The delimiter that the name of the file suggests: of several that are as good,
        the one to take.

    Examples
    --------
    >>> layout = sniff(b"name;height\nAnn;1,62\nBob;1,80\n")
    >>> layout.delimiter, layout.decimal, layout.has_header
    (';', ',', True)
    """
    begin, declared = _find_begin(text)
    sample = _sample(text, begin)
    line_end = _find_line_end(sample)
    quote = _find_quote(sample)
    delimiter = delimiter or declared
    tried = DELIMITERS if delimiter is None else (delimiter,)
    splits = [_Split(sample, mark, quote) for mark in tried]
    if delimiter is None:
        best = _best(splits, usual) or _below_title(splits)
        best = best or _Split(sample, usual or ",", quote)
    else:
        best = splits[0]
    rows, first_line = best.rows, best.first_line
    vote = first_row_looks_like(rows)
    has_header = vote != "data" if header is None else header
    cells = rows[1:] if has_header else rows
    marks = _find_decimal(cells, decimal, best.delimiter)
    return Layout(
        delimiter=best.delimiter,
        skips_blanks=best.skips_blanks,
        line_end=line_end,
        quote=quote,
        decimal=marks.decimal,
        has_header=has_header,
        begin=begin,
        first_line=first_line if has_header else "",
        looks_like=vote,
        doubtful=marks.doubtful,
        unread=marks.unread,
        has_comma=marks.has_comma,
    )


_DECLARED = re.compile(rb'"?sep=([^\r\n"])"?(\r\n|\r|\n)')


def _find_begin(text: bytes) -> tuple[int, str | None]:
    """Return where the first line begins, and the delimiter declared before it.

    Spreadsheets write and read a line ``sep=;`` before the table.
    """
    start, _ = byte_order_mark(text)
    begin = len(start)
    while text[begin : begin + 1] in (b"\n", b"\r"):
        begin += 1
    declared = _DECLARED.match(text, begin)
    if declared is None or not declared[1].isascii():
        return begin, None
    return declared.end(), declared[1].decode()


def _sample(text: bytes, begin: int) -> str:
    """Return whole lines from the beginning, a few at least."""
    size = _SAMPLE_BYTES
    while True:
        sample = text[begin : begin + size]
        is_whole = begin + size >= len(text)
        if is_whole or size >= _LARGEST_SAMPLE or _n_lines(sample) > 4:
            break
        size *= 8
    if not is_whole:
        last = max(sample.rfind(b"\n"), sample.rfind(b"\r"))
        sample = sample[: last + 1] or sample
    return sample.decode("utf-8", errors="replace")


def _n_lines(sample: bytes) -> int:
    return max(sample.count(b"\n"), sample.count(b"\r"))


def _find_line_end(sample: str) -> str:
    """Return a carriage return where it alone ends lines, as old programs have it."""
    if "\r\n" in sample or "\r" not in sample:
        return "\n"
    outside = re.sub(r'"[^"]*"', "", sample)
    return "\r" if "\r" in outside and "\n" not in outside else "\n"


_QUOTED = r"(?:^|[,;\t| ]){0}[^{0}\n]*{0}(?=[,;\t| \r\n]|\Z)"
_DOUBLE = re.compile(_QUOTED.format('"'), re.M)
_SINGLE = re.compile(_QUOTED.format("'"), re.M)


def _find_quote(sample: str) -> str:
    n_single = len(_SINGLE.findall(sample))
    n_lines = sample.count("\n") + 1
    is_single = n_single > 1 and 2 * n_single >= n_lines and not _DOUBLE.search(sample)
    return "'" if is_single else '"'


class _Split:
    """A sample split by one delimiter, and how well that went."""

    def __init__(self, sample: str, delimiter: str, quote: str) -> None:
        self.delimiter = delimiter
        self.skips_blanks = _skips_blanks(sample, delimiter)
        self.rows, self.is_sound = _split(sample, delimiter, quote, self.skips_blanks)
        counts = Counter(map(len, self.rows))
        self.n_fields = max(counts, key=lambda n: (counts[n], n), default=0)
        self.first_line = self._nameless()
        n_even = counts[self.n_fields] + bool(self.first_line)
        self.share = n_even / len(self.rows) if self.rows else 0.0

    def _nameless(self) -> str:
        """Tell where a first line that is one field short lacks it, if it does."""
        rows, n = self.rows[1:], self.n_fields
        is_short = n > 2 and len(rows) > 1 and len(self.rows[0]) == n - 1
        if not is_short or any(len(row) != n for row in rows):
            return ""
        if all(row[-1] == "" for row in rows):
            return "after"
        return "before" if len({row[0] for row in rows}) == len(rows) else ""

    @property
    def fits_below(self) -> bool:
        """Whether the first line alone is one field."""
        below = {len(row) for row in self.rows[1:]}
        is_even = len(self.rows) > 2 and below == {self.n_fields} and self.n_fields > 1
        is_clear = self.is_sound and self.delimiter != BLANK_RUNS
        return is_even and is_clear and len(self.rows[0]) == 1

    def score(self, usual: str | None) -> tuple[float, bool]:
        """Rate the split; higher is better, 0 is none."""
        if self.n_fields < 2 or len(self.rows[0]) < 2:
            return 0.0, False
        cells = [cell for row in self.rows[:_RATED_ROWS] for cell in row]
        clean = [_cleanness(cell, self.delimiter) for cell in cells]
        score = self.share**2 * sum(clean) / len(clean)
        if not self.is_sound:
            score /= 4
        if self.delimiter == BLANK_RUNS:
            score *= 0.95 if self.share == 1 and self._has_no_sentences(usual) else 0.0
        return round(score, 6), self.delimiter == usual

    def _has_no_sentences(self, usual: str | None) -> bool:
        """Tell a table from sentences, whose words are parted by blanks too."""
        below = [row for row in self.rows[1:] if len(row) == self.n_fields]
        columns = list(zip(*(below or self.rows), strict=False))
        n_numeric = sum(all(map(_is_number_or_missing, column)) for column in columns)
        if usual is not None:  # the name of the file speaks for another delimiter
            return 4 * n_numeric >= len(columns)
        return n_numeric > 0 or all(2 * len(set(c)) <= len(c) for c in columns)


def _best(splits: Sequence[_Split], usual: str | None) -> _Split | None:
    scores = [split.score(usual) for split in splits]
    best = max(scores)
    return splits[scores.index(best)] if best[0] > 0 else None


def _below_title(splits: Sequence[_Split]) -> _Split | None:
    """Return the split that makes a table of all lines but the first, if one does.

    The first line is a title then, at which the reader stops; other splits would
    take every line for one field, without a word.
    """
    fitting = [split for split in splits if split.fits_below]
    return max(fitting, key=lambda split: split.n_fields, default=None)


def _split(
    sample: str, delimiter: str, quote: str, skips_blanks: bool
) -> tuple[Rows, bool]:
    """Return the rows of a sample, and whether its quotes make sense in them."""
    if delimiter == BLANK_RUNS:
        lines = re.split(r"\r\n|\r|\n", sample)
        sample = "\n".join(re.sub(r"[\t\v\f]", " ", line).strip() for line in lines)
        delimiter, skips_blanks = " ", True
    rows: Rows = []
    for is_strict in (True, False):
        rows = []
        reader = csv.reader(
            io.StringIO(sample, newline=""),
            delimiter=delimiter,
            quotechar=quote,
            skipinitialspace=skips_blanks,
            strict=is_strict,
        )
        try:
            rows.extend(islice(filter(None, reader), _MAX_ROWS))
        except csv.Error:
            if len(rows) < _ENOUGH_ROWS:
                continue
        return rows, is_strict
    return rows, False


def _skips_blanks(sample: str, delimiter: str) -> bool:
    """Tell whether a blank follows the delimiter throughout, below the first line."""
    if delimiter not in (",", ";", "|"):
        return False
    plain = re.sub(r'"[^"]*"', "q", sample)
    lines = re.split(r"\r\n|\r|\n", plain.rstrip("\r\n"))
    below = "\n".join(lines[1:] or lines)
    mark = re.escape(delimiter)
    n_blank = len(re.findall(rf"{mark}[ \t]", below))
    n_other = len(re.findall(rf"{mark}[^ \t\n{mark}]", below))
    return n_blank > 0 and n_other == 0


def _cleanness(cell: str, delimiter: str) -> float:
    """Rate a field from 0, which looks like several, to 1, which looks whole."""
    text = cell.strip(BLANKS)
    if is_number_text(text) or (delimiter != "," and is_number_text(text, ",")):
        return 1.0
    if "\t" in text:
        return 0.1
    words = text.split()
    if len(words) > 1 and all(map(is_number_text, words)):
        return 0.2
    if ";" in text or "|" in text:
        return 0.3
    if '"' in text:
        return 0.4
    if delimiter != "," and "," in text:
        return 0.8 if re.search(r",(?! )", text) is None else 0.4
    return 1.0


# --- names or data ------------------------------------------------------------------


def first_row_looks_like(rows: Rows) -> str:
    """Return "header" or "data", or nothing where nothing speaks for either.

    Every column has a voice: a name is no number above numbers, is not one of the few
    labels below it, and has not the shape of the dates below it.
    """
    if len(rows) < 2:
        return ""
    first, below = [field.strip(BLANKS) for field in rows[0]], rows[1:]
    are_names = _are_names(first)
    votes: list[int] = []
    for j, name in enumerate(first):
        values = [row[j].strip(BLANKS) for row in below if j < len(row)]
        values = [value for value in values if value not in MISSING_MARKERS]
        is_number = _is_number(name)
        if not (is_number and are_names):
            votes.append(_vote_of(name, is_number, values))
    score = sum(votes)
    if score == 0:
        names = list(filter(None, first))
        is_repeated = len(set(names)) < len(names)
        return "data" if is_repeated and any(vote > 0 for vote in votes) else ""
    return "data" if score > 0 else "header"


def _vote_of(name: str, is_number: bool, values: list[str]) -> int:
    """Weigh whether a field looks like one of the values, or below 0 like their name.

    Numbers say more than labels, of which some are rare.
    """
    if name in MISSING_MARKERS:
        return 1 if name else 0
    if not values:
        return 0
    if all(map(_is_number, values)):
        return 3 if is_number else -3
    distinct = set(values)
    if name in distinct:
        return 1
    if len(values) >= _FEW and 2 * len(distinct) <= len(values) and not is_number:
        return -1
    shapes = {_shape(value) for value in distinct}
    if len(shapes) == 1 and len(values) > 1 and any("0" in shape for shape in shapes):
        return 1 if _shape(name) in shapes else -1
    return 0


def _is_number(text: str) -> bool:
    return is_number_text(text) or is_number_text(text, ",")


def _is_number_or_missing(text: str) -> bool:
    return text in MISSING_MARKERS or _is_number(text)


def _shape(text: str) -> str:
    return re.sub(r"[^\W\d_]+", "a", re.sub(r"\d", "0", text))


def _are_names(first: list[str]) -> bool:
    """Tell whether numbers of a first row may well be names: years, or a count."""
    texts = [name for name in first if is_number_text(name)]
    if len(texts) < 2 or not all(map(str.isdigit, texts)):
        return False
    numbers = [int(text) for text in texts]
    if any(b <= a for a, b in pairwise(numbers)):
        return False
    if numbers[0] >= 1800 and numbers[-1] <= 2100:
        return True
    is_count = numbers[-1] - numbers[0] == len(numbers) - 1 and len(numbers) > 2
    return is_count and (numbers[0] == 0 or len(texts) < len(first))


# --- numbers ------------------------------------------------------------------------

_GROUPED = {
    mark: re.compile(rf"[+-]?[1-9]\d{{0,2}}([{mark}]\d{{3}})+") for mark in ".,"
}
_SEVERAL = re.compile(r"[+-]?\d+([.,])\d{3}\1\d{3}.*")


class _Marks(NamedTuple):
    """What the marks within numbers are, as in `Layout`."""

    decimal: str
    has_comma: bool
    doubtful: tuple[str, ...]
    unread: tuple[str, ...]


def _find_decimal(rows: Rows, given: str | None, delimiter: str) -> _Marks:
    """Find the decimal mark, and numbers that are doubtful or not read as such.

    Every column has a voice. Decimals that are not always three speak for a mark;
    groups of three digits may be thousands, and two of them are.
    """
    sure: dict[str, list[str]] = {".": [], ",": []}
    grouped: dict[str, list[str]] = {".": [], ",": []}
    for j in range(max(map(len, rows), default=0)):
        cells = [row[j].strip(BLANKS) for row in rows if j < len(row)]
        values = [cell for cell in cells if cell not in MISSING_MARKERS]
        for mark in ".,":
            marked = [value for value in values if mark in value]
            if marked and all(_is_grouped_or_whole(value, mark) for value in values):
                several = [value for value in marked if _SEVERAL.fullmatch(value)]
                grouped[mark].append((several or marked)[0])
            elif marked and all(is_number_text(value, mark) for value in values):
                sure[mark].append(marked[0])
    decimal = given or _choose_decimal(sure, grouped)
    other = "," if decimal == "." else "."
    thousands = filter(_SEVERAL.fullmatch, grouped[decimal])
    unread = (*(() if given else sure[other]), *grouped[other], *thousands)
    is_open = not (given or sure["."] or sure[","] or _parts(grouped))
    if not is_open or (grouped["."] and grouped[","]):
        has_comma = decimal == "," and bool(sure[","] or grouped[","])
        return _Marks(decimal, has_comma and not given, (), unread)
    # Groups of three alone, which may be thousands or decimals.
    points = grouped["."] if delimiter == ";" else []
    return _Marks(decimal, False, (*grouped[","], *points), ())


def is_grouped(number: str) -> bool:
    """Tell whether the marks of a number part groups of three digits.

    Examples
    --------
    >>> is_grouped("1.234"), is_grouped("1,5")
    (True, False)
    """
    return any(form.fullmatch(number) for form in _GROUPED.values())


def _is_grouped_or_whole(text: str, mark: str) -> bool:
    is_whole = text.lstrip("+-").isdecimal()
    return is_whole or _GROUPED[mark].fullmatch(text) is not None


def _parts(grouped: Mapping[str, Sequence[str]]) -> str:
    """Return the mark that parts thousands, as two groups of three digits tell."""
    marks = [m for m in ".," if any(map(_SEVERAL.fullmatch, grouped[m]))]
    return marks[0] if len(marks) == 1 else ""


def _choose_decimal(
    sure: Mapping[str, Sequence[str]], grouped: Mapping[str, Sequence[str]]
) -> str:
    if sure["."] or sure[","]:
        return "," if not sure["."] else "."
    return "," if _parts(grouped) == "." else "."
