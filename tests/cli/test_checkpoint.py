"""Commands with --checkpoint: killed at any moment they end with the same files."""

import json
import os
import random
import signal
import subprocess
import sys
import time

import pytest
from support.clirunner import fails, ok

import bayesmend as bm
from bayesmend._files import lock_file

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs SIGKILL")

# Of each command: options under which it takes a second or so.
COMMANDS = {
    "auto": ("learn",),
    "auto of a chosen ess": ("learn", "--ess", "auto"),
    "exact": ("learn", "--method", "exact", "--max-parents", "2"),
    "exact with a proof": (
        *("learn", "--method", "exact", "--max-parents", "2"),
        *("--certificate", "OUT.json.gz"),
    ),
    "local": ("learn", "--method", "local", "--restarts", "40"),
    "local by programmes": ("learn", "--method", "local", "--solver", "ilp"),
    "local by orders": ("learn", "--method", "local", "--solver", "order"),
    "em": ("learn", "--method", "em"),
    "em by climbing": ("learn", "--method", "em", "--solver", "greedy"),
    "em by programmes": (
        *("learn", "--method", "em", "--solver", "ilp", "--restarts", "1"),
    ),
    "em-hard": ("learn", "--method", "em-hard"),
    "em under a mechanism": (
        *("learn", "--method", "em", "--mechanism", "auto"),
        *("--stability", "2", "--restarts", "0"),
    ),
    "exact under a mechanism": (
        *("learn", "--method", "exact", "--mechanism", "self", "--max-parents", "2"),
    ),
    "ensemble": ("learn", "--method", "ensemble", "--networks", "10"),
    "multiple": ("multiple", "--tables", "5", "--burn-in", "10"),
    "multiple by bootstrap": ("multiple", "--tables", "5", "--method", "bootstrap"),
}
ENV = {**os.environ, "PYTHONUNBUFFERED": "1"}


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "rows.csv"
    data = bm.load_network("asia").sample(200, seed=2)
    bm.hide_mcar(data, 0.05, seed=1).data.write_csv(path)
    return path


def started(arguments):
    command = [sys.executable, "-m", "bayesmend", *map(str, arguments)]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen(command, env=ENV, **quiet)


def ended(arguments):
    with started(arguments) as process:
        return process.wait()


def files_in(out):
    """Return what each file holds, but for the seconds that it took."""
    found = {path.name: path.read_bytes() for path in out.iterdir()}
    found.pop("report.html", None)  # made of the others
    proof = out.with_name(f"{out.name}.json.gz")
    if proof.exists():
        found["proof"] = proof.read_bytes()
    found["result.json"] = timeless(json.loads(found["result.json"]))
    return found


def timeless(facts):
    for name in ("seconds", "date", "certificate_file", "again"):
        facts.pop(name, None)
    saved = facts.pop("saved", None)  # the same once more, and the seconds in it
    assert saved is None or saved["format"] == "bayesmend-result"
    facts["options"].pop("certificate", None)
    if isinstance(steps := facts.get("trace"), list):
        facts["trace"] = [(*step[:2], *step[3:]) for step in steps]
    return facts


def begun_in(folder, process):
    """Wait until a command is at work on its folder; tell whether it still is."""
    while process.poll() is None and not (folder / "checkpoint.json").exists():
        time.sleep(1e-3)
    return process.poll() is None


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_killed_at_random_moments_the_files_are_the_same(name, rows, tmp_path):
    chance = random.Random(name)

    def command(out, *more):
        given = [part.replace("OUT", str(out)) for part in COMMANDS[name]]
        return [given[0], rows, *given[1:], "--seed", 1, "--out", out, *more]

    def with_folder(number):
        out, at = tmp_path / f"killed-{number}", tmp_path / f"at-{number}"
        return out, at, command(out, "--checkpoint", at)

    assert ended(command(tmp_path / "whole")) == 0
    _, at, arguments = with_folder(0)
    with started(arguments) as process:
        assert begun_in(at, process)
        begun = time.perf_counter()
        assert process.wait() == 0
        took = time.perf_counter() - begun
    n_killed, number = 0, 0
    while n_killed < 3:
        number += 1
        out, at, arguments = with_folder(number)
        for _ in range(3):
            with started(arguments) as process:
                begun_in(at, process)
                time.sleep(chance.uniform(0.0, took))
                process.kill()
                n_killed += process.wait() == -signal.SIGKILL
            if out.exists():  # it was through
                took /= 2
                break
        if not out.exists():
            assert ended(arguments) == 0
        assert files_in(out) == files_in(tmp_path / "whole")


# --- refusals -------------------------------------------------------------------------

OTHERS = {
    "option": (
        ("--method", "em", "--max-parents", 1),
        "begun with something else: --max-parents 2, and now it is --max-parents 1",
    ),
    "method": (
        ("--method", "em-hard", "--max-parents", 2),
        "--method em, and now it is --method em-hard",
    ),
    "seed": (
        ("--method", "em", "--max-parents", 2, "--seed", 2),
        "--seed 1, and now it is --seed 2",
    ),
}


def test_of_other_options_or_data_it_is_refused(rows, tmp_path):
    at = ("--checkpoint", tmp_path / "at", "--out", tmp_path / "out")
    ours = ("--method", "em", "--max-parents", 2)
    ok("learn", rows, *ours, "--seed", 1, *at)
    for options, message in OTHERS.values():
        seed = () if "--seed" in options else ("--seed", 1)
        told = fails(1, "learn", rows, *options, *seed, *at, "--force")
        assert message in told
    text = rows.read_text().splitlines()
    other, column = tmp_path / "other.csv", text[0].split(",").index("smoke")
    cells = text[5].split(",")
    cells[column] = {"yes": "no", "no": "yes"}.get(cells[column], "no")
    other.write_text("\n".join([*text[:5], ",".join(cells), *text[6:], ""]))
    told = fails(1, "learn", other, *ours, "--seed", 1, *at, "--force")
    assert "other cells in 'smoke'" in told
    told = fails(1, "multiple", rows, "--tables", 2, *at, "--force")
    assert "learn, and this is impute_multiple" in told


def test_a_damaged_one_and_one_in_use_are_refused_in_one_sentence(rows, tmp_path):
    folder = tmp_path / "at"
    command = ("multiple", rows, "--tables", 2, "--burn-in", 2, "--seed", 1)
    command = (*command, "--checkpoint", folder, "--out", tmp_path / "out", "--force")
    ok(*command)
    with (folder / "lock").open("rb+") as file:
        assert lock_file(file.fileno())
        told = fails(1, *command)
        assert "another process is at work on the checkpoint" in told
        assert "--checkpoint" in told
    (folder / "checkpoint.json").write_text("{")
    assert "is no checkpoint: its checkpoint.json was changed" in fails(1, *command)
