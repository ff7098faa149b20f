"""Work that is killed, interrupted, or finds no room: the old files or the new ones."""

import json
import os
import random
import signal
import subprocess
import sys

import pytest

import bayesmend as bm

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and forks")

TRIALS = 20

# Runs a command again and again, each time in a process of its own that is a copy of
# one in which everything is imported, and sends a signal at a random moment of it.
SERVER = """
import os, random, signal, sys, time
number, n_trials, seed = (int(value) for value in sys.argv[1:4])
sys.argv[:] = ["bayesmend", *sys.argv[4:]]
signal.signal(signal.SIGINT, signal.default_int_handler)
import bayesmend._interrupts as interrupts
from bayesmend.__main__ import main
import bayesmend as bm
import bayesmend.cli.app
bm.learn({"a": ["x", None, "y"] * 3, "b": ["u", "v", "v"] * 3}, seed=1, n_threads=1)

def begin():
    child = os.fork()
    if child:
        return child
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(1, 2)
    signal.signal(signal.SIGINT, interrupts._end)
    try:
        main()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    os._exit(code)

begun = time.perf_counter()
code = os.waitstatus_to_exitcode(os.waitpid(begin(), 0)[1])
assert code == 0, code
seconds = time.perf_counter() - begun
rng = random.Random(seed)
print("ready", flush=True)
for trial in range(n_trials):
    sys.stdin.readline()
    child = begin()
    time.sleep(rng.uniform(0, 1.1 * seconds))
    try:
        os.kill(child, number)
    except ProcessLookupError:
        pass
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("faults")
    asia = bm.load_network("asia")
    full = asia.sample(300, seed=1)
    full.write_csv(folder / "full.csv")
    bm.hide_mcar(full, 0.02, seed=1).data.write_csv(folder / "holed.csv")
    bm.write_network(asia, folder / "asia.bif")
    return folder


# What is run on these files, and what it writes.
COMMANDS = {
    "learn": "learn holed.csv --method em --seed 1 --out OUT",
    "learn local": "learn holed.csv --method local --restarts 2 --seed 1 --out OUT",
    "learn ensemble": "learn holed.csv --method ensemble --networks 2 "
    "--seed 1 --out OUT",
    "learn mechanism": "learn holed.csv --mechanism self --restarts 0 "
    "--seed 1 --out OUT",
    "multiple": "multiple holed.csv --tables 1 --burn-in 1 --thin 1 --seed 1 --out OUT",
    "structure": "structure full.csv --seed 1 --out OUT",
    "impute": "impute asia.bif holed.csv --out OUT.csv",
    "hide": "hide full.csv --mcar 0.3 --seed 1 --out OUT.csv",
    "sample": "sample asia.bif --rows 30000 --seed 1 --out OUT.csv",
    "convert": "convert asia.bif OUT.json",
}


def command_of(name, files, out):
    inputs = {each.name: str(each) for each in files.iterdir()}
    words = COMMANDS[name].split()
    last = [inputs.get(w, str(out) if w.startswith("OUT") else w) for w in words]
    return [*last, "--force"]


def out_of(name, folder):
    return folder / COMMANDS[name].split()[-1].lower()


def contents(out):
    """The files at a path, by name, but temporary ones."""
    if out.is_dir():
        return {p.name: p.read_bytes() for p in out.iterdir() if p.name[0] != "."}
    return {out.name: out.read_bytes()} if out.exists() else {}


def mark_old(out):
    """Put files there that differ from new ones, and return them."""
    for each in sorted(out.iterdir()) if out.is_dir() else [out]:
        if each.is_file():
            each.write_bytes(b"old")
    return contents(out)


def state_of(found, old, names):
    """Tell whether files are the old ones or new ones; each must be whole."""
    if found == old:
        return "old"
    assert set(found) == names
    for name, content in found.items():
        check_whole(name, content)
    return "new"


def check_whole(name, content):
    assert content != b"old", name
    if name.endswith(".json"):
        json.loads(content)
    elif name.endswith(".csv"):
        assert content.endswith(b"\n")
        assert len({line.count(b",") for line in content.splitlines()}) == 1, name
    elif name.endswith(".html"):
        assert content.rstrip().endswith(b"</html>")
    elif name.endswith(".bif"):
        assert content.rstrip().endswith(b"}")


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT], ids=["kill", "int"])
@pytest.mark.parametrize("name", COMMANDS)
def test_a_signal_at_any_moment_leaves_whole_files(name, number, files, tmp_path):
    out = out_of(name, tmp_path)
    arguments = [str(int(number)), str(TRIALS), str(random.Random(name).randrange(99))]
    server = subprocess.Popen(
        [sys.executable, "-c", SERVER, *arguments, *command_of(name, files, out)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with server:
        assert server.stdout.readline() == "ready\n"
        names = set(contents(out))
        for _ in range(TRIALS):
            old = mark_old(out)
            server.stdin.write("\n")
            server.stdin.flush()
            code = int(server.stdout.readline())
            assert code in (0, 130, -number)
            state = state_of(contents(out), old, names)
            assert state == "new" or code != 0
            if number == signal.SIGINT:  # which leaves time to clear up
                assert {each.name for each in tmp_path.iterdir()} == {out.name}
        server.stdin.close()
    assert server.returncode == 0


# --- no room, no permission, nobody to read -------------------------------------------

LIMITED = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)
sys.argv[:] = ["bayesmend", *sys.argv[2:]]
from bayesmend.__main__ import main
main()
"""


def run(*command, **how):
    return subprocess.run(
        [sys.executable, *command],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        **how,
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("limit", [10, 300])
def test_a_disk_that_is_full_keeps_the_old_files(name, limit, files, tmp_path):
    """A limit on the size of files fails as a full disk does, in the middle of one."""
    out = out_of(name, tmp_path)
    if out.suffix:
        out.write_bytes(b"old")
    else:
        out.mkdir()
        (out / "network.bif").write_bytes(b"old")
    old = contents(out)
    done = run("-c", LIMITED, str(limit), *command_of(name, files, out))
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("Error: cannot write ")
    assert "File too large" in done.stderr
    assert "Traceback" not in done.stderr
    assert contents(out) == old
    assert {each.name for each in tmp_path.iterdir()} == {out.name}


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")  # noqa: PTH110
@pytest.mark.parametrize("command", [["sample", "asia.bif", "--rows", "5"]])
def test_a_full_standard_output_is_one_line(command, files):
    with open("/dev/full", "w") as full:  # noqa: PTH123
        done = subprocess.run(
            [sys.executable, "-m", "bayesmend", *command],
            cwd=files,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("Error: ")
    assert "No space left" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("name", ["learn", "impute", "convert"])
def test_a_folder_that_cannot_be_written_is_named(name, files, tmp_path):
    """No folder can be made in a file, not even by root, who may write anywhere."""
    place = tmp_path / "place"
    place.write_bytes(b"old")
    done = run("-m", "bayesmend", *command_of(name, files, out_of(name, place)))
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("Error: ")
    assert str(place) in done.stderr
    assert "Traceback" not in done.stderr
    assert place.read_bytes() == b"old"


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
@pytest.mark.parametrize("name", ["learn", "impute", "convert"])
def test_a_read_only_folder_stays_as_it_was(name, files, tmp_path):
    place = tmp_path / "place"
    place.mkdir(mode=0o555)
    done = run("-m", "bayesmend", *command_of(name, files, out_of(name, place)))
    assert done.returncode == 1
    assert "Permission denied" in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(place.iterdir())


@pytest.mark.slow
def test_a_closed_pipe_ends_a_command_in_silence(files):
    command = [sys.executable, "-m", "bayesmend", "sample", "asia.bif"]
    writer = subprocess.Popen(
        [*command, "--rows", "200000"],
        cwd=files,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with writer:
        assert writer.stdout.readline().count(",") == 7
        writer.stdout.close()
        assert writer.stderr.read() == ""
    assert writer.returncode != 0


@pytest.mark.slow
@pytest.mark.parametrize("megabytes", [120, 160, 200, 260, 400])
def test_little_memory_keeps_the_old_files(megabytes, files, tmp_path):
    out = tmp_path / "out"
    script = f"""
        import resource, runpy, sys
        resource.setrlimit(resource.RLIMIT_AS, ({megabytes} * 2**20,) * 2)
        sys.argv[:] = ["bayesmend", *{command_of("learn", files, out)!r}]
        from bayesmend.__main__ import main
        main()
    """
    out.mkdir()
    (out / "network.bif").write_bytes(b"old")
    done = run("-c", "\n".join(line.strip() for line in script.splitlines()))
    assert done.returncode in (0, 1), (done.returncode, done.stderr)
    is_new = (out / "network.bif").read_bytes() != b"old"
    assert is_new == (done.returncode == 0)
