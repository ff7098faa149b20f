"""The folder of a result is written as a whole, by one run at a time."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.clirunner import fails, ok, run

from bayesmend import load_network
from bayesmend.cli.folder import kept_from_others, write_folder
from bayesmend.errors import DataError, ParameterError
from bayesmend.hiding import hide_mcar


@pytest.fixture
def holed(tmp_path):
    path = tmp_path / "holed.csv"
    hide_mcar(load_network("asia").sample(150, seed=3), 0.1, seed=1).data.write_csv(
        path
    )
    return path


def broken(path):
    path.write_text("half of it")
    raise KeyboardInterrupt


def full(path):
    raise DataError(f"cannot write '{path}': No space left on device.")


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_new_folder_is_complete_or_not_there(tmp_path):
    out = tmp_path / "some" / "where"
    with pytest.raises(KeyboardInterrupt):
        write_folder(out, {"a": "1", "b": broken})
    assert names_in(tmp_path / "some") == []
    with pytest.raises(DataError, match=r"cannot write '.*/some/where/b': No space"):
        write_folder(out, {"a": "1", "b": full})
    assert names_in(tmp_path / "some") == []
    write_folder(out, {"a": "1", "b": lambda path: path.write_text("2")})
    assert names_in(out) == ["a", "b"]
    (tmp_path / "usual").mkdir()
    assert out.stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_files_of_an_earlier_result_go_with_the_others_or_stay(tmp_path, monkeypatch):
    for name in ("part-1", "part-2", "part-3", "own"):
        (tmp_path / name).write_text("old")
    rename, renamed = Path.rename, []

    def fail_late(self, target):
        renamed.append(target)
        if len(renamed) == 4:  # the old and the new part-1 are through, and part-2
            raise KeyboardInterrupt
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fail_late)
    with pytest.raises(KeyboardInterrupt):
        write_folder(tmp_path, {"part-1": "new"}, earlier="part-*")
    assert names_in(tmp_path) == ["own", "part-1", "part-2", "part-3"]
    assert {path.read_text() for path in tmp_path.iterdir()} == {"old"}
    monkeypatch.undo()
    write_folder(tmp_path, {"part-1": "new"}, earlier="part-*")
    assert names_in(tmp_path) == ["own", "part-1"]


def test_a_folder_that_is_there_keeps_its_files_when_something_fails(
    tmp_path, monkeypatch
):
    for name in ("a", "b", "own"):
        (tmp_path / name).write_text("old")
    with pytest.raises(KeyboardInterrupt):
        write_folder(tmp_path, {"a": "new", "b": broken})
    rename, renamed = Path.rename, []

    def fail_late(self, target):
        renamed.append(target)
        if len(renamed) == 4:  # the old and the new a are through, and the old b
            raise KeyboardInterrupt
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fail_late)
    with pytest.raises(KeyboardInterrupt):
        write_folder(tmp_path, {"a": "new", "b": "new", "c": "new"})
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {
        "a": "old",
        "b": "old",
        "own": "old",
    }
    monkeypatch.undo()
    write_folder(tmp_path, {"a": "new", "c": "new"})
    assert names_in(tmp_path) == ["a", "b", "c", "own"]
    assert (tmp_path / "a").read_text() == (tmp_path / "c").read_text() == "new"


def test_a_link_to_a_folder_leads_to_the_files(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "there")
    write_folder(tmp_path / "link", {"a": "1"})
    assert (tmp_path / "link").is_symlink()
    assert names_in(tmp_path / "there") == ["a"]


def test_one_run_at_a_time_has_a_folder(tmp_path, holed):
    out = tmp_path / "out"
    with kept_from_others(out):
        with (
            pytest.raises(ParameterError, match="another run is at work on"),
            kept_from_others(tmp_path / "x" / ".." / "out"),
        ):
            pass
        with kept_from_others(tmp_path / "other"):
            pass
        message = fails(1, "learn", holed, "--out", out, "--force")
        assert message.startswith(f"Error: another run is at work on '{out}'. Wait")
    ok("learn", holed, "--out", out)
    # Whatever ends a run, the folder is free again.
    assert run("learn", holed, "--out", out).exit_code == 1
    ok("learn", holed, "--out", out, "--force")


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_a_killed_run_leaves_no_lock(tmp_path, holed):
    script = (
        "import sys, time, pathlib\n"
        "from bayesmend.cli.folder import kept_from_others\n"
        "with kept_from_others(pathlib.Path(sys.argv[1])):\n"
        "    print('held', flush=True)\n"
        "    time.sleep(60)\n"
    )
    out = tmp_path / "out"
    child = subprocess.Popen(
        [sys.executable, "-c", script, str(out)], stdout=subprocess.PIPE, text=True
    )
    assert child.stdout.readline() == "held\n"
    with pytest.raises(ParameterError), kept_from_others(out):
        pass
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    child.stdout.close()
    with kept_from_others(out):
        pass


def test_what_killed_runs_have_left_is_cleared_away(tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    names = ".out.0123456789abcdef", ".out.0123456789abcde", ".other.0123456789abcdef"
    for home in (tmp_path, out):
        for name in names:
            (home / name / "before").mkdir(parents=True)
            os.utime(home / name, (0, 0))
    fresh = tmp_path / ".out.fedcba9876543210"
    fresh.mkdir()
    write_folder(out, {"a": "1"})
    assert [name for name in names if (tmp_path / name).exists()] == list(names[1:])
    assert [name for name in names if (out / name).exists()] == list(names[1:])
    assert fresh.exists()
    assert (out / "a").read_text() == "1"
