"""Files of every format that is read, changed at random: text, bytes and structure."""

import functools
import gzip
import io
import json
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

import bayesmend as bm
from bayesmend.formats import (
    read_ensemble,
    read_jkl,
    read_network,
    write_ensemble,
    write_jkl,
    write_network,
)

ENSEMBLE = ".ensemble.json"
NETWORKS = (".bif", ".xmlbif", ".json", ".graphml")
TABLES = (".csv", ".tsv", ".txt")
FRAMES = (".parquet", ".arrow", ".xlsx")

# What readers of such formats stumble over.
TOKENS = (
    b"",
    b" ",
    b"\n",
    b"\r",
    b"\r\n",
    b"\t",
    b"\0",
    b"\x1a",
    b"\x1b[31m",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\xc3",
    b"\xed\xa0\x80",
    "é漢🙂\u202e\u0301".encode(),
    b'"',
    b"'",
    b'""',
    b",",
    b";",
    b"|",
    b"{",
    b"}",
    b"(",
    b")",
    b"[",
    b"]",
    b"<",
    b">",
    b"/",
    b"/*",
    b"*/",
    b"//",
    b"<!--",
    b"-->",
    b"<![CDATA[",
    b"]]>",
    b"&amp;",
    b"&#0;",
    b"&#xD800;",
    b"&x;",
    b"<!DOCTYPE a [<!ENTITY x 'y'>]>",
    b"\\",
    b"\\u",
    b"\\ud800",
    b"\\x",
    b"null",
    b"true",
    b"NaN",
    b"Infinity",
    b"nan",
    b"inf",
    b"-",
    b"-0",
    b"1e999",
    b"-1e999",
    b"1e-400",
    b"0x10",
    b"1_000",
    b"9" * 400,
    b"0." + b"3" * 400,
    b"1,5",
    b"0.5",
    b"2",
    b"-1",
    b"256",
    b"65536",
    b"4294967296",
    b"18446744073709551616",
    b"table",
    b"default",
    b"probability",
    b"variable",
    b"network",
    b"type discrete",
    b"property",
    b"?",
    b"NA",
    b"=1+1",
    b"@a",
    b"a" * 3000,
)


@functools.cache
def folder() -> tempfile.TemporaryDirectory[str]:
    """Where the files of this process are: in memory, where the system has that."""
    memory = Path("/dev/shm")
    return tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None)


@functools.cache
def corpus() -> dict[str, list[bytes]]:
    """Well-formed files of each format, from which inputs are made."""
    rng = np.random.default_rng(1)
    dag = bm.Dag.from_arcs(["a", "b b", "c"], [("a", "c"), ("b b", "c")])
    states = (("x", "y"), ("1", "2", "3"), ("no", "yes, so"))
    cpts = tuple(rng.dirichlet([1] * n, q) for n, q in ((2, 1), (3, 1), (2, 6)))
    small = bm.Network(dag, states, cpts)
    asia = bm.load_network("asia")
    sample = bm.hide_mcar(asia.sample(12, seed=1), 0.2, seed=1).data
    table = {"a": ["x", None, "y"] * 4, "n": [1.5, 2.5, None] * 4}
    learned = bm.learn(table, seed=1)
    reasoned = bm.learn_em(table, mechanism="self", restarts=0, seed=1)
    found: dict[str, list[bytes]] = {}
    with tempfile.TemporaryDirectory() as place:
        for suffix in NETWORKS:
            for network in (small, asia, learned.network, reasoned.network):
                path = Path(place, f"n{suffix}")
                write_network(network, path)
                found.setdefault(suffix, []).append(path.read_bytes())
        path = Path(place, "c.jkl")
        write_jkl(bm.structure.candidate_parents(asia.sample(50, seed=1)), path)
        found[".jkl"] = [path.read_bytes()]
        path = Path(place, f"e{ENSEMBLE}")
        many = bm.learn_ensemble(table, n_networks=2, classes=[2], seed=1)
        write_ensemble(many, path)
        found[ENSEMBLE] = [path.read_bytes()]
        path = Path(place, "t.csv")
        sample.write_csv(path)
        text = path.read_bytes()
    found[".csv"] = [
        text,
        text.replace(b",", b";"),
        b'a,"b ""q""",c\n1,"x\ny",\n2.5,,NA\n?,z,2020-01-02\n',
        b"1 2  3\n4 5  6\n",
        text.decode().encode("utf-16"),
    ]
    found[".tsv"] = [text.replace(b",", b"\t")]
    found[".txt"] = [text.replace(b",", b" ")]
    found |= _frames(sample)
    return found


def _frames(sample: bm.IncompleteData) -> dict[str, list[bytes]]:
    import openpyxl
    import polars as pl

    frame = pl.DataFrame(sample.to_polars())
    parquet, arrow, excel = io.BytesIO(), io.BytesIO(), io.BytesIO()
    frame.write_parquet(parquet)
    frame.write_ipc(arrow)
    book = openpyxl.Workbook()
    for row in [frame.columns, *frame.rows()]:
        book.active.append(row)
    book.save(excel)
    return {
        ".parquet": [parquet.getvalue()],
        ".arrow": [arrow.getvalue()],
        ".xlsx": [excel.getvalue()],
    }


def prepare() -> None:
    corpus()


def attempt(rng: np.random.Generator) -> str:
    kinds = (*NETWORKS * 6, *[".jkl", ENSEMBLE] * 4, *TABLES * 6, *FRAMES)
    suffix = kinds[rng.integers(len(kinds))]
    files = corpus()[suffix]
    content = files[rng.integers(len(files))]
    content = (
        _mutated_archive(content, rng) if suffix == ".xlsx" else mutated(content, rng)
    )
    if suffix.endswith(".json") and rng.random() < 0.5:
        content = _mutated_json(files[rng.integers(len(files))], rng)
    if suffix not in FRAMES and rng.random() < 0.05:
        content, suffix = gzip.compress(content, 1), f"{suffix}.gz"
        if rng.random() < 0.5:
            content = mutated(content, rng)
    path = Path(folder().name, f"f{suffix}")
    path.write_bytes(content)
    reader_of(suffix, rng)(path)
    return "read"


def reader_of(suffix: str, rng: np.random.Generator) -> Callable[[Path], object]:
    suffix = suffix.removesuffix(".gz")
    if suffix in NETWORKS:
        return _network_and_back
    if suffix == ".jkl":
        return read_jkl
    if suffix == ENSEMBLE:
        return _ensemble_and_back
    options = {
        "delimiter": [None, ",", ";", "\t", "|", "x"],
        "decimal": [None, ".", ","],
        "encoding": [None, "utf-8", "utf-16", "latin-1", "nonsense"],
        "header": [None, True, False],
        "missing": ["?", ["NA", ""], [-9], None],
    }
    given = {
        name: values[rng.integers(len(values))]
        for name, values in options.items()
        if rng.random() < 0.15
    }

    def read(path: Path) -> None:
        data = bm.IncompleteData.from_table(path, **given)
        str(data.summary())
        again = bm.IncompleteData.from_table(path, **given)
        assert data == again
        table = data.to_table()
        assert len(table) == data.n_rows

    return read


def _network_and_back(path: Path) -> None:
    """What was read can be written, and read again as the same."""
    network = read_network(path)
    for cpt in network.cpts:
        assert np.isfinite(cpt).all()
        assert (cpt >= 0).all()
        np.testing.assert_allclose(cpt.sum(axis=1), 1.0, atol=1e-6)
    kept = path.with_name("again.json")
    write_network(network, kept)
    assert read_network(kept) == network


def _ensemble_and_back(path: Path) -> None:
    ensemble = read_ensemble(path)
    assert abs(sum(ensemble.weights) - 1) < 1e-6
    kept = path.with_name("again.json")
    write_ensemble(ensemble, kept)
    assert read_ensemble(kept) == ensemble


def mutated(content: bytes, rng: np.random.Generator) -> bytes:
    """Change a text in one to four places."""
    for _ in range(rng.integers(1, 5)):
        content = _CHANGES[rng.integers(len(_CHANGES))](content, rng)
    return content[:200_000]


def _span(content: bytes, rng: np.random.Generator) -> tuple[int, int]:
    first = int(rng.integers(len(content) + 1))
    return first, min(len(content), first + int(rng.geometric(0.08)))


def _delete(content: bytes, rng: np.random.Generator) -> bytes:
    first, last = _span(content, rng)
    return content[:first] + content[last:]


def _insert(content: bytes, rng: np.random.Generator) -> bytes:
    first, _ = _span(content, rng)
    return content[:first] + TOKENS[rng.integers(len(TOKENS))] + content[first:]


def _replace(content: bytes, rng: np.random.Generator) -> bytes:
    first, last = _span(content, rng)
    return content[:first] + TOKENS[rng.integers(len(TOKENS))] + content[last:]


def _repeat(content: bytes, rng: np.random.Generator) -> bytes:
    first, last = _span(content, rng)
    times = int(rng.choice([1, 2, 10, 1000]))
    return content[:first] + content[first:last] * times + content[first:]


def _move(content: bytes, rng: np.random.Generator) -> bytes:
    first, last = _span(content, rng)
    rest = content[:first] + content[last:]
    place, _ = _span(rest, rng)
    return rest[:place] + content[first:last] + rest[place:]


def _cut(content: bytes, rng: np.random.Generator) -> bytes:
    first, _ = _span(content, rng)
    return content[:first] if rng.random() < 0.8 else content[first:]


def _flip(content: bytes, rng: np.random.Generator) -> bytes:
    changed = bytearray(content)
    for place in rng.integers(len(content) or 1, size=rng.integers(1, 4)):
        if place < len(changed):
            changed[place] = rng.integers(256)
    return bytes(changed)


_CHANGES = (_delete, _insert, _replace, _replace, _repeat, _move, _cut, _flip)


def _mutated_archive(content: bytes, rng: np.random.Generator) -> bytes:
    """Change one part of a workbook, or the archive itself."""
    if rng.random() < 0.3:
        return mutated(content, rng)
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(out, "w") as new:
        names = old.namelist()
        chosen = names[rng.integers(len(names))]
        for name in names:
            part = old.read(name)
            new.writestr(name, mutated(part, rng) if name == chosen else part)
    return out.getvalue()


_VALUES = (
    None,
    True,
    0,
    -1,
    2**70,
    1.5,
    "",
    "a",
    "\ud800",
    [],
    {},
    [[]],
    [None],
    {"a": 1},
)


def _mutated_json(content: bytes, rng: np.random.Generator) -> bytes:
    """Put a value of another kind in place of some value inside."""
    plain = json.loads(content)
    place = plain
    while True:
        if not place:
            break
        keys = list(place) if isinstance(place, dict) else range(len(place))
        key = keys[int(rng.integers(len(keys)))]
        inner = place[key]
        if not isinstance(inner, dict | list) or not inner or rng.random() < 0.2:
            place[key] = _VALUES[rng.integers(len(_VALUES))]
            break
        place = inner
    return json.dumps(plain).encode()
