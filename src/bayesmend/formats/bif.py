r"""BIF, the Bayesian network interchange format (version 0.15), read and written.

Both the form of the specification (quoted names, ``table`` over the whole family with
the last parent varying fastest and the child slowest) and the form of the well-known
repositories (a row per parent configuration) are read; the latter is written. Commas
between words and numbers are optional, ``property`` lines and comments are skipped, but
for the property of the network that tells how the table learned from was read, and that
of a table that tells which of its cells have an example there (1 or 0, row by row).
States are text, and a number used as a label comes back as text, unless the network
was learned: then its property remembers the types of labels.

Why cells are missing is written as further variables, indicators with the states
``observed`` and ``missing``: a property of theirs says of which variable, and other
programs see ordinary ones.

Words made of letters, digits, ``_``, ``.``, ``+`` and ``-`` are written as they are,
anything else in quotes, with ``\\``, ``\"``, ``\n``, ``\r`` and ``\t`` as escapes.
"""

import math
import re
from dataclasses import replace
from itertools import product
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from bayesmend.data.states import Label, listing
from bayesmend.formats.assemble import (
    Family,
    Variable,
    assemble,
    check_family,
    declare,
    parse_numbers,
    text_labels,
)
from bayesmend.formats.remembered import (
    PROPERTY,
    SUPPORT,
    Remembered,
    pack_indicator,
    pack_memory,
    pack_support,
    unpack_indicator,
    unpack_memory,
    unpack_support,
)
from bayesmend.formats.text import Source
from bayesmend.network.cpt import unfold
from bayesmend.network.network import Network

__all__ = ["parse", "render"]

SKIP = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
TOKEN = re.compile(r'"((?:[^"\\]|\\.)*)"|[{}()\[\]|,;]|[^\s{}()\[\]|,;"]+', re.DOTALL)
NUMBERS = re.compile(r"[^;{}()\[\]\"/|]*")
ESCAPE = re.compile(r'\\(["\\nrt])')
UNESCAPED = {"n": "\n", "r": "\r", "t": "\t"}
ESCAPED = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*", re.ASCII)
BLOCK = re.compile(
    r'(?:[^}"/]++|"(?:[^"\\]|\\.)*+"|//[^\n]*+|/\*.*?\*/|/(?!\*))*+\}', re.DOTALL
)
FLAGS = re.compile(rf"\bproperty\s+{SUPPORT}\s*=\s*([^;]*?)\s*;")
SCHEMA = re.compile(rf"\bproperty\s+({PROPERTY}\s*=[^;]*);")
PUNCTUATION = frozenset("{}()[]|,;")


def parse(text: str, source: str = "<text>") -> Network:
    """Read a network from BIF text.

    Parameters
    ----------
    text : str
        The whole file.
    source : str, default="<text>"
        What errors call it.

    Returns
    -------
    Network
        Each table row divided by its sum.

    Raises
    ------
    FormatError
        With line and column, when the text is no valid network.

    Examples
    --------
    >>> variable = "variable a { type discrete [2] { no, yes }; }"
    >>> parse(variable + "probability (a) { table 0.2, 0.8; }")
    Network(1 variable, 0 arcs, 1 parameter)
    >>> parse("variable a { type discrete [3] { n, y }; }")
    Traceback (most recent call last):
    ...
    bayesmend.errors.FormatError: <text>, line 1, column 29: variable 'a' ...
    """
    return _Parser(Source(text, source)).parse()


def render(network: Network) -> str:
    """Write a network as BIF text, every number so that it reads back equal.

    Examples
    --------
    >>> from bayesmend import load_network
    >>> print(render(load_network("asia"))[:72])
    network unknown {
    }
    variable asia {
      type discrete [ 2 ] { yes, no };
    }
    """
    told = network.mechanism
    network = replace(network.with_indicators(), schema=network.schema)
    of_indicators = () if told is None else told.variables
    n_plain = network.n_vars - len(of_indicators)
    names = [_quote(name) for name in network.names]
    labels = [[_quote(label) for label in states] for states in text_labels(network)]
    kept = ""
    if network.schema is not None:
        kept = f"  property {pack_memory(network)};\n"
    parts = [f"network unknown {{\n{kept}}}\n"]
    kinds = [""] * n_plain
    kinds += [f"  property {pack_indicator(name)};\n" for name in of_indicators]
    for name, states, kind in zip(names, labels, kinds, strict=True):
        listed = f"[ {len(states)} ] {{ {', '.join(states)} }}"
        parts.append(f"variable {name} {{\n  type discrete {listed};\n{kind}}}\n")
    for child, parents in enumerate(network.dag.parents):
        given = f" | {', '.join(names[p] for p in parents)}" if parents else ""
        parts.append(f"probability ( {names[child]}{given} ) {{\n")
        # product() varies the last factor fastest, our tables the first parent.
        configs = product(*(labels[p] for p in reversed(parents)))
        for row, config in zip(network.cpts[child].tolist(), configs, strict=True):
            head = f"({', '.join(reversed(config))})" if parents else "table"
            parts.append(f"  {head} {', '.join(map(repr, row))};\n")
        if network.support is not None:
            parts.append(f"  property {pack_support(network.support[child])};\n")
        parts.append("}\n")
    return "".join(parts)


def _quote(text: str) -> str:
    if PLAIN.fullmatch(text):
        return text
    return '"' + "".join(ESCAPED.get(c, c) for c in text) + '"'


def _unquote(text: str) -> str:
    return ESCAPE.sub(lambda m: UNESCAPED.get(m[1], m[1]), text)


class _Parser:
    """Reader of variables first, then tables, so that blocks may come in any order."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.end = 0  # of the current token
        self.start = 0
        self.token = ""
        self.is_quoted = False
        self.variables: dict[str, Variable] = {}
        self.families: dict[str, Family] = {}
        self.memory: Remembered | None = None
        self.indicators: dict[str, str] = {}

    def parse(self) -> Network:
        tables = []
        while self.advance():
            if self.token == "probability":
                tables.append(self.end)
                self.skip_block()
            elif self.token == "variable":
                self.read_variable()
            elif self.token == "network":
                self.read_network()
            else:
                self.fail("'network', 'variable' or 'probability'")
        codes = {
            name: {label: code for code, label in enumerate(variable.states)}
            for name, variable in self.variables.items()
        }
        for position in tables:
            self.end = position
            self.read_family(codes)
        network = assemble(self.source, self.variables, self.families)
        network = network.without_indicators(self.indicators)
        return network if self.memory is None else self.memory.given_to(network)

    def advance(self) -> bool:
        """Move to the next token; false at the end of the text."""
        text = self.source.text
        skipped = SKIP.match(text, self.end)
        assert skipped is not None
        self.start = skipped.end()
        if text.startswith("/*", self.start):
            self.source.fail("this comment is not closed by '*/'.", self.start)
        match = TOKEN.match(text, self.start)
        if match is None:
            if self.start < len(text):
                self.source.fail("this quoted text has no end.", self.start)
            self.token, self.is_quoted = "", False
            return False
        self.end = match.end()
        self.is_quoted = match[1] is not None
        self.token = _unquote(match[1]) if self.is_quoted else match[0]
        return True

    def fail(self, expected: str) -> NoReturn:
        got = repr(self.token) if self.token else "the end of the file"
        self.source.fail(f"expected {expected}. Got {got} instead.", self.start)

    def is_symbol(self, symbol: str) -> bool:
        return self.token == symbol and not self.is_quoted

    def expect(self, symbol: str) -> None:
        self.advance()
        if not self.is_symbol(symbol):
            self.fail(repr(symbol))

    def is_word(self) -> bool:
        return self.is_quoted or bool(self.token and self.token not in PUNCTUATION)

    def expect_word(self, what: str) -> str:
        self.advance()
        if not self.is_word():
            self.fail(what)
        return self.token

    def words_until(self, close: str, what: str) -> list[tuple[str, int]]:
        """Read words with their offsets; commas between them are optional."""
        words = []
        while self.advance() and not self.is_symbol(close):
            if self.is_word():
                words.append((self.token, self.start))
            elif not self.is_symbol(","):
                break
        if not self.is_symbol(close):
            self.fail(f"{what} or {close!r}")
        return words

    def skip_block(self) -> None:
        start = self.start
        block = BLOCK.match(self.source.text, self.end)
        if block is None:
            self.source.fail(f"this {self.token} block is not closed by '}}'.", start)
        self.end = block.end()

    def read_network(self) -> None:
        start = self.end
        self.skip_block()
        found = SCHEMA.search(self.source.text, start, self.end)
        if found is not None:
            self.memory = unpack_memory(self.source, found[1], found.start(1))

    def skip_property(self) -> None:
        start = self.start
        while self.advance():
            if self.is_symbol(";"):
                return
        self.source.fail("this property is not closed by ';'.", start)

    def read_variable(self) -> None:
        name = self.expect_word("the name of a variable")
        where = self.start
        self.expect("{")
        states: tuple[str, ...] | None = None
        while self.advance() and not self.is_symbol("}"):
            if self.is_symbol("property"):
                start = self.end
                self.skip_property()
                text = self.source.text[start : self.start]
                of = unpack_indicator(self.source, text, start)
                if of is not None:
                    self.indicators[name] = of
            elif self.is_symbol("type") and states is None:
                states = self.read_type(name)
            else:
                self.fail("'type', 'property' or '}'")
        if not self.is_symbol("}"):
            self.fail("'}'")
        if states is None:
            self.source.fail(f"variable {name!r} has no type.", where)
        declare(self.source, self.variables, Variable(name, states, where))

    def read_type(self, name: str) -> tuple[str, ...]:
        if self.expect_word("'discrete'") != "discrete":
            self.fail("'discrete'")
        self.expect("[")
        count = self.expect_word("the number of states")
        where = self.start
        self.expect("]")
        self.expect("{")
        states = tuple(label for label, _ in self.words_until("}", "a state"))
        if count != str(len(states)):
            msg = f"variable {name!r} announces {count} states but lists {len(states)}."
            self.source.fail(msg, where)
        self.expect(";")
        return states

    def read_family(self, codes: dict[str, dict[Label, int]]) -> None:
        self.expect("(")
        child = (self.expect_word("the name of a variable"), self.start)
        self.advance()
        if not self.is_symbol("|"):  # the specification lists parents without it
            self.end = self.start
        parents = self.words_until(")", "the name of a parent")
        card = check_family(
            self.source, self.variables, self.families, [child, *parents]
        )
        self.expect("{")
        names, start = tuple(name for name, _ in parents), self.end
        table = self.read_entries(child, [codes[name] for name in names], card)
        support = self.read_support(start, card)
        self.families[child[0]] = Family(names, table, child[1], support)

    def read_support(
        self, start: int, card: tuple[int, ...]
    ) -> NDArray[np.bool_] | None:
        """Look for the support of a table in its block, which ends here."""
        found = FLAGS.search(self.source.text, start, self.end)
        if found is None:
            return None
        flags = unpack_support(self.source, found[1], found.start(1), card)
        return unfold(flags, card[1:])

    def read_entries(
        self,
        child: tuple[str, int],
        codes: list[dict[Label, int]],
        card: tuple[int, ...],
    ) -> NDArray[np.float64]:
        rows: dict[int, list[float]] = {}
        table: NDArray[np.float64] | None = None
        default: list[float] | None = None
        while self.advance() and not self.is_symbol("}"):
            where = self.start
            if self.is_symbol("("):
                config = self.read_configuration(codes, card)
                if config in rows:
                    msg = f"{child[0]!r} has a second row for this configuration."
                    self.source.fail(msg, where)
                rows[config] = self.read_numbers(card[0])
            elif self.is_symbol("table") and table is None:
                numbers = self.read_numbers(math.prod(card))
                table = np.moveaxis(np.array(numbers).reshape(card), 0, -1)
            elif self.is_symbol("default") and default is None:
                default = self.read_numbers(card[0])
            elif self.is_symbol("property"):
                self.skip_property()
            else:
                self.fail("'table', 'default', 'property', '(' or '}'")
        if not self.is_symbol("}"):
            self.fail("'}'")
        if table is not None:
            if rows or default is not None:
                msg = f"{child[0]!r} has both a table and rows. Keep one of them."
                self.source.fail(msg, child[1])
            return table
        return self.fill(child, rows, default, card)

    def read_configuration(
        self, codes: list[dict[Label, int]], card: tuple[int, ...]
    ) -> int:
        """Return the number of a configuration, the first parent varying fastest."""
        where = self.start
        labels = self.words_until(")", "a state")
        if len(labels) != len(codes):
            msg = f"expected {len(codes)} states of parents. Got {len(labels)} instead."
            self.source.fail(msg, where)
        config = 0
        stride = 1
        for (label, at), known, states in zip(labels, codes, card[1:], strict=True):
            code = known.get(label)
            if code is None:
                msg = (
                    f"no state {label!r} of this parent. Its states: {listing(known)}."
                )
                self.source.fail(msg, at)
            config += stride * code
            stride *= states
        return config

    def read_numbers(self, count: int) -> list[float]:
        """Read ``count`` numbers up to a semicolon."""
        text = self.source.text
        where = self.end
        numbers: list[float] = []
        while True:
            chunk = NUMBERS.match(text, self.end)
            assert chunk is not None
            numbers += parse_numbers(self.source, chunk[0], self.end)
            self.end = chunk.end()
            skipped = SKIP.match(text, self.end)
            assert skipped is not None
            if skipped.end() == self.end:
                break
            self.end = skipped.end()
        self.expect(";")
        if len(numbers) != count:
            msg = f"expected {count} probabilities. Got {len(numbers)} instead."
            self.source.fail(msg, where)
        return numbers

    def fill(
        self,
        child: tuple[str, int],
        rows: dict[int, list[float]],
        default: list[float] | None,
        card: tuple[int, ...],
    ) -> NDArray[np.float64]:
        n_configs = math.prod(card[1:])
        if len(rows) < n_configs and default is None:
            missing = next(i for i in range(n_configs) if i not in rows)
            msg = (
                f"{child[0]!r} has no probabilities for "
                f"{n_configs - len(rows)} of {n_configs} configurations of its "
                f"parents (the first is number {missing}). Add them, or 'default'."
            )
            self.source.fail(msg, child[1])
        table = np.empty((n_configs, card[0]))
        table[:] = 0.0 if default is None else default
        if rows:
            table[list(rows)] = list(rows.values())
        return unfold(table, card[1:])
