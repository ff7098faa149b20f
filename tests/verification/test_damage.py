"""Files that are cut off, garbled or hold odd values: one clear sentence each."""

import gzip
import json
import shutil

import numpy as np
import pytest
from support.clirunner import ok, run
from support.strategies import linked_rows

from bayesmend.errors import DataError
from bayesmend.verification import verify

SLOW = pytest.mark.slow
ODD = (None, -1, 0.5, 1e308, 10**400, "x", "", [], {}, [[]], True, -(2**70), [None])


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Two folders: of a table with holes, and of a complete one."""
    folders = []
    for number, command in enumerate(("learn", "structure")):
        folder = tmp_path_factory.mktemp(command)
        rows = linked_rows([2, 3, 2, 2], 40, np.random.default_rng(number)).tolist()
        lines = [",".join(f"s{c}" for c in row) for row in rows]
        if command == "learn":
            lines[3:6] = [f"{line[:6]}{line[8:]}" for line in lines[3:6]]
        (folder / "table.csv").write_text("\n".join(["a,b,c,d", *lines]) + "\n")
        method = ("--method", "exact") if command == "learn" else ()
        ok(
            *(command, folder / "table.csv", *method, "--model", "a,b,c,d"),
            *("--out", folder, "--certificate", folder / "proof.json.gz"),
        )
        folders.append(folder)
    return folders


@pytest.fixture(params=[0, 1], ids=["joint", "structure"])
def folder(request, saved, tmp_path):
    for name in ("table.csv", "result.json", "proof.json.gz"):
        shutil.copy(saved[request.param] / name, tmp_path / name)
    return tmp_path


def told(folder):
    return verify(folder, folder / "table.csv", folder / "proof.json.gz")


def pack(folder, content):
    (folder / "proof.json.gz").write_bytes(gzip.compress(content.encode()))


def test_whole_files_are_accepted(folder):
    assert told(folder).lie is None


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.99])
def test_a_proof_that_is_cut_off(folder, share):
    content = (folder / "proof.json.gz").read_bytes()
    (folder / "proof.json.gz").write_bytes(content[: int(share * len(content))])
    assert "'proof.json.gz'" in told(folder).lie


def test_a_proof_with_a_byte_that_is_another(folder):
    content = bytearray((folder / "proof.json.gz").read_bytes())
    for at in range(0, len(content), max(1, len(content) // 40)):
        broken = bytearray(content)
        broken[at] ^= 0x55
        (folder / "proof.json.gz").write_bytes(broken)
        lie = told(folder).lie  # of the header, some bytes say nothing
        assert lie is None or "proof" in lie
        assert lie is not None or at < 10


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "is no JSON"),
        ("{", "is no JSON"),
        ("[]", "must be a JSON object"),
        ("{}", "is no proof: its format and version are others"),
        ('{"bound": NaN}', "NaN is no number"),
        ('{"bound": -Infinity}', "-Infinity is no number"),
        ('{"bound": ' + "1" * 5000 + "}", "is no JSON"),
        ("[" * 100_000, "is no JSON"),
    ],
)
def test_a_proof_that_is_something_else(folder, content, said):
    pack(folder, content)
    assert said in told(folder).lie


def test_a_result_that_is_cut_off(folder):
    content = (folder / "result.json").read_text()
    (folder / "result.json").write_text(content[: len(content) // 2])
    assert "the result 'result.json' is no JSON" in told(folder).lie


def test_a_file_that_is_not_there(folder):
    (folder / "proof.json.gz").unlink()
    with pytest.raises(DataError, match=r"cannot read .*: No such file"):
        told(folder)
    done = run("verify", folder, folder / "table.csv", folder / "proof.json.gz")
    assert done.exit_code == 2
    assert "Traceback" not in done.stderr
    assert done.stderr.rstrip().endswith("No such file or directory.")


def places_of(document, path=()):
    """All places of a document, the way to each as keys."""
    yield path
    if isinstance(document, dict | list):
        entries = (
            document.items() if isinstance(document, dict) else enumerate(document)
        )
        for key, value in entries:
            yield from places_of(value, (*path, key))


def check_odd_values(folder, name, n_tries, seed):
    """Put odd values anywhere: no error but of the kind for users, and no new claim."""
    rng = np.random.default_rng(seed)
    path = folder / name
    content = path.read_bytes()
    text = gzip.decompress(content) if name.endswith(".gz") else content
    document = json.loads(text)
    places = [place for place in places_of(document) if place]
    before = told(folder)
    for _ in range(n_tries):
        changed = json.loads(text)
        *way, key = places[rng.integers(len(places))]
        inner = changed
        for step in way:
            inner = inner[step]
        inner[key] = ODD[rng.integers(len(ODD))]
        packed = json.dumps(changed).encode()
        path.write_bytes(gzip.compress(packed) if name.endswith(".gz") else packed)
        try:
            found = told(folder)
        except DataError:
            continue
        assert found.lie is None or "\n" not in found.lie
        if found.lie is None:
            assert set(found.checked) <= set(before.checked), (*way, key)
    path.write_bytes(content)


def test_odd_values_in_proofs_and_results(folder):
    check_odd_values(folder, "proof.json.gz", 40, 1)
    check_odd_values(folder, "result.json", 20, 2)


@SLOW
def test_odd_values_by_the_thousand(folder):
    check_odd_values(folder, "proof.json.gz", 1500, 3)
    check_odd_values(folder, "result.json", 1000, 4)
