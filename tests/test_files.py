"""Files appear whole or not at all, packed when their name says so."""

import errno
import gzip
import os
import stat
from pathlib import Path

import pytest
from support.child import run_child

from bayesmend import IncompleteData, load_network, read_network, write_network
from bayesmend._files import file_suffix, unpack, write_chunks, write_text
from bayesmend.errors import DataError
from bayesmend.formats import read_jkl


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


def test_parts_packed_one_by_one_are_joined():
    parts = [f"part {i}".encode() for i in range(5000)]
    packed = b"".join(gzip.compress(part, mtime=0) for part in parts)
    assert unpack(packed + b"\0" * 9) == b"".join(parts)


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("net.bif.gz", read_network),
        ("net.json.gz", read_network),
        ("net.xmlbif.gz", read_network),
        ("net.graphml.gz", read_network),
        ("sets.jkl.gz", read_jkl),
        ("table.csv.gz", IncompleteData.from_csv),
        ("table.tsv.gz", IncompleteData.from_table),
    ],
)
def test_a_packed_file_grows_to_a_stated_size(name, read, tmp_path, monkeypatch):
    path = tmp_path / name
    path.write_bytes(gzip.compress(b"a" * 10**6))
    monkeypatch.setenv("BAYESMEND_MAX_UNPACKED", "999999")
    message = (
        f"{name} unpacks to more than 999,999 bytes. Unpack it first, or raise the "
        "environment variable BAYESMEND_MAX_UNPACKED."
    )
    with pytest.raises(DataError, match=message):
        read(path)


def test_no_more_is_unpacked_than_is_allowed(monkeypatch):
    monkeypatch.setenv("BAYESMEND_MAX_UNPACKED", str(2**26))
    script = """
        import gzip
        from bayesmend._files import unpack
        zeros = gzip.compress(bytes(2**24))
        before = peak()
        try:
            unpack(zeros * 100)
        except bm.errors.DataError as error:
            assert "more than 67,108,864 bytes" in str(error)
        print(peak() - before < 150)
    """
    assert run_child(script) == "True"


@pytest.mark.parametrize(
    "write",
    [
        lambda path: write_network(load_network("asia"), path),
        lambda path: IncompleteData.from_table({"a": ["x", "y"]}).write_csv(path),
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

    def test_a_link_stays_and_leads_to_the_new_file(self, write, tmp_path):
        (tmp_path / "there").mkdir()
        target, link = tmp_path / "there" / "net.bif", tmp_path / "link.bif"
        link.symlink_to(target)
        for _ in range(2):  # a link to nothing, then to a file
            write(link)
            assert link.is_symlink()
            assert target.read_bytes()
            assert sorted(tmp_path.rglob("*.bif")) == [link, target]
        link.unlink()
        link.symlink_to(link)
        with pytest.raises(DataError, match="it is a link that leads to itself"):
            write(link)

    def test_devices_pipes_and_folders_stay_what_they_are(self, write, tmp_path):
        pipe, folder = tmp_path / "pipe.bif", tmp_path / "folder.bif"
        os.mkfifo(pipe)
        folder.mkdir()
        (tmp_path / "null.bif").symlink_to("/dev/null")
        for path in (pipe, tmp_path / "null.bif"):
            with pytest.raises(DataError, match="it is a device, a pipe or the like"):
                write(path)
        with pytest.raises(DataError, match=r"folder.bif': it is a folder. Name a"):
            write(folder)
        assert pipe.is_fifo()
        assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)

    def test_a_full_disk_names_the_file(self, write, tmp_path, monkeypatch):
        def fail(*_):
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(Path, "replace", fail)
        with pytest.raises(DataError, match=r"write '.*net.bif': No space left on dev"):
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
