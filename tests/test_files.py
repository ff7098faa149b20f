"""Files appear whole or not at all, packed when their name says so."""

import gzip
from pathlib import Path

import pytest

from bayesmend import IncompleteData, load_network, write_network
from bayesmend._files import file_suffix, unpack, write_chunks, write_text
from bayesmend.errors import DataError


@pytest.mark.parametrize(
    ("path", "suffix"),
    [
        ("a.csv", ".csv"),
        ("A.CSV.GZ", ".csv"),
        (Path("folder.tsv", "net.bif.gz"), ".bif"),
        ("none", ""),
        (".gz", ""),
    ],
)
def test_the_suffix_tells_the_format(path, suffix):
    assert file_suffix(path) == suffix


def test_chunks_are_joined(tmp_path):
    write_chunks(tmp_path / "a.txt", iter([b"one ", b"two"]))
    assert (tmp_path / "a.txt").read_bytes() == b"one two"
    write_chunks(tmp_path / "empty", [])
    assert (tmp_path / "empty").read_bytes() == b""


def test_a_packed_file_is_the_same_every_time(tmp_path):
    for name in ("a.txt.gz", "b.txt.GZ"):
        write_text(tmp_path / name, "text\n" * 100)
    first, second = ((tmp_path / n).read_bytes() for n in ("a.txt.gz", "b.txt.GZ"))
    assert first == second
    assert unpack(first) == b"text\n" * 100


@pytest.mark.parametrize(
    "content", [b"no gzip", b"\x1f\x8b\x08", gzip.compress(b"x" * 999, mtime=0)[:-9]]
)
def test_what_is_not_wholly_packed_is_refused(content):
    with pytest.raises(gzip.BadGzipFile):
        unpack(content)


@pytest.mark.parametrize(
    "write",
    [
        lambda path: write_network(load_network("asia"), path),
        lambda path: IncompleteData.from_table({"a": ["x"]}).write_csv(path),
        lambda path: write_text(path, "text"),
    ],
    ids=["network", "table", "text"],
)
class TestEveryWriter:
    """Networks, tables and text are written by the same hand."""

    def test_a_folder_that_is_not_there_is_an_error(self, write, tmp_path):
        with pytest.raises(DataError, match=r"cannot write '.*bif': No such file"):
            write(tmp_path / "no" / "net.bif")

    def test_an_interrupted_write_leaves_no_temporary_file(
        self, write, tmp_path, monkeypatch
    ):
        def interrupt(*_):
            raise KeyboardInterrupt

        monkeypatch.setattr(Path, "replace", interrupt)
        with pytest.raises(KeyboardInterrupt):
            write(tmp_path / "net.bif")
        assert list(tmp_path.iterdir()) == []

    def test_a_new_file_has_the_usual_permissions(self, write, tmp_path):
        usual, path = tmp_path / "usual", tmp_path / "net.bif"
        usual.touch()
        write(path)
        assert path.stat().st_mode == usual.stat().st_mode
        path.chmod(0o600)
        write(path)
        assert path.stat().st_mode & 0o777 == 0o600


def test_a_problem_with_the_content_leaves_the_old_file(tmp_path):
    def chunks():
        yield b"new"
        message = "broken"
        raise DataError(message)

    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(DataError, match="broken"):
        write_chunks(path, chunks())
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
