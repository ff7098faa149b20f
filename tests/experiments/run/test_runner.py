"""Experiments run to raw rows: resumed, killed, interrupted, in several processes."""

import gzip
import hashlib
import json
import math
import os
import re
import signal
import subprocess
import sys
import threading
import time
import warnings
from dataclasses import replace
from pathlib import Path

import pytest
from support.tinyexperiment import EXACT, FIRST, LAST, dawdle, die, fail, tiny

import bayesmend as bm
from bayesmend.errors import DataError, ParameterError, ShortfallWarning
from experiments.data import DataFolder
from experiments.design import Measure, Method, Run, Setting, Task
from experiments.run.machine import build, checksum
from experiments.run.rawrows import RawRows, read_rows
from experiments.run.runner import RunError, execute, run_experiment
from experiments.run.selection import select

NOWHERE = DataFolder(None)
TESTS = str(Path(__file__).parent)


def run(experiment, path, **options):
    said = []
    rows = run_experiment(experiment, path, folder=NOWHERE, say=said.append, **options)
    return rows, said


def lines_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def timeless(rows):
    changing = ("seconds", "cpu_seconds", "n_threads")
    return sorted(
        json.dumps({k: v for k, v in row.items() if k not in changing}) for row in rows
    )


# --- rows -----------------------------------------------------------------------------


def test_every_run_and_method_gives_one_row(tmp_path):
    path = tmp_path / "new" / "raw.jsonl"
    rows, said = run(tiny(), path)
    assert lines_of(path) == rows
    assert said == []
    keys = [(row["setting"], row["repetition"], row["method"]) for row in rows]
    assert sorted(keys) == sorted(
        (f"state/{state}", repetition, method)
        for state in (0, 1)
        for repetition in range(3)
        for method in ("first", "last", "exact")
    )


def test_a_row_says_all_that_is_known_about_the_answer(tmp_path):
    experiment = tiny(repetitions=1, methods=(EXACT,))
    rows, _ = run(experiment, tmp_path / "raw.jsonl")
    row = rows[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ShortfallWarning)
        task = experiment.make(Run(experiment.settings[0], 0, 1), NOWHERE)
    found = bm.learn_exact(task.data, max_parents=2, seed=row["seed"])
    assert row["experiment"] == "tiny"
    assert row["accuracy"] == task.hidden.accuracy(found.completed)
    assert row["n_hidden"] == task.hidden.n_hidden
    assert (row["score"], row["bound"]) == (found.score, found.bound)
    assert row["status"] == "optimal"
    assert row["n_arcs"] == found.dag.n_arcs
    assert row["version"] == bm.__version__
    assert row["seconds"] > 0
    right, asked = map(sum, zip(*row["by_value"].values(), strict=True))
    assert (asked, right / asked) == (task.hidden.n_hidden, row["accuracy"])


def test_methods_get_the_same_table_and_repetitions_different_ones(tmp_path):
    rows, _ = run(tiny(), tmp_path / "raw.jsonl")
    tables = {}
    for row in rows:
        tables.setdefault((row["setting"], row["repetition"]), set()).add(row["table"])
    assert all(len(table) == 1 for table in tables.values())
    assert len(set.union(*tables.values())) == len(tables) == 6


def test_settings_of_one_stream_share_their_seeds(tmp_path):
    rows, _ = run(tiny(), tmp_path / "raw.jsonl")
    seeds = {(row["repetition"], row["seed"]) for row in rows}
    assert len(seeds) == 3


def test_what_is_no_finite_number_becomes_null(tmp_path):
    path = tmp_path / "raw.jsonl"
    with RawRows(path, say=print) as raw:
        raw.add({"accuracy": float("nan"), "bound": float("inf"), "x": [float("nan")]})
    assert json.loads(path.read_text()) == {
        "accuracy": None,
        "bound": None,
        "x": [None],
    }


def test_the_number_of_processes_changes_nothing_but_the_seconds(tmp_path):
    one, _ = run(tiny(), tmp_path / "one.jsonl")
    two, _ = run(tiny(), tmp_path / "two.jsonl", jobs=2)
    assert timeless(one) == timeless(two)


def test_progress_counts_the_rows_of_this_run(tmp_path):
    path = tmp_path / "raw.jsonl"
    run(tiny(repetitions=1), path)
    ticks = []
    run(tiny(repetitions=2), path, progress=ticks.append)
    assert [(tick.n_done, tick.n_all) for tick in ticks] == [
        (i, 6) for i in range(1, 7)
    ]


# --- going on -------------------------------------------------------------------------


def test_what_is_done_is_not_done_again(tmp_path):
    path = tmp_path / "raw.jsonl"
    run(tiny(repetitions=2, methods=(FIRST, EXACT)), path)
    before = path.read_bytes()
    rows, _ = run(tiny(repetitions=3), path)
    assert path.read_bytes().startswith(before)
    whole, _ = run(tiny(repetitions=3), tmp_path / "at-once.jsonl")
    assert timeless(rows) == timeless(whole)
    finished = path.read_bytes()
    run(tiny(repetitions=3), path)
    assert path.read_bytes() == finished


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_killed_run_goes_on_where_it_stopped(jobs, tmp_path):
    path = tmp_path / "raw.jsonl"
    log = tmp_path / "processes.log"
    code = (
        f"import sys; sys.path[:0] = {[TESTS, *sys.path]!r}\n"
        "from pathlib import Path\n"
        "from test_runner import slow, run\n"
        "if __name__ == '__main__':\n"
        "    run(slow(sys.argv[2]), Path(sys.argv[1]), jobs=int(sys.argv[3]))\n"
    )
    script = tmp_path / "script.py"
    script.write_text(code)
    command = [sys.executable, script, path, log, str(jobs)]
    with subprocess.Popen(command) as process:
        wait_for(lambda: path.exists() and path.read_bytes().count(b"\n") >= 3)
        process.kill()
    workers = [int(pid) for pid in log.read_text().split()]
    wait_for(lambda: not any(map(is_alive, workers)))
    kept = path.read_bytes()
    assert kept.count(b"\n") < 24
    rows, _ = run(slow(log), path, jobs=2)
    assert len(rows) == 24
    assert path.read_bytes().startswith(kept[: kept.rindex(b"\n")])
    keys = {(row["setting"], row["repetition"], row["method"]) for row in rows}
    assert len(keys) == 24


def slow(log):
    options = {"seconds": 0.05, "log": str(log)}
    return tiny(repetitions=12, methods=(Method("slow", "slow", dawdle, options),))


def is_alive(pid):
    """Tell whether a process is there; one that ended but was not fetched is not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def wait_for(is_so, seconds=30.0):
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.parametrize("n_bytes", [1, 50, -1])
def test_a_torn_last_line_is_dropped_and_done_again(n_bytes, tmp_path):
    path = tmp_path / "raw.jsonl"
    rows, _ = run(tiny(), path)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-1]) + lines[-1][:n_bytes])
    n_torn = len(lines[-1][:n_bytes])
    again, said = run(tiny(), path)
    assert said == [
        f"The last line of '{path}' was not written to its end ({n_torn} bytes) and is "
        "left out; its run is done again."
    ]
    assert timeless(again) == timeless(rows) == timeless(lines_of(path))


def test_reading_leaves_a_torn_line_in_the_file(tmp_path):
    path = tmp_path / "raw.jsonl"
    rows, _ = run(tiny(), path)
    with path.open("a") as file:
        file.write('{"experiment": "ti')
    said = []
    assert read_rows(path, say=said.append) == rows
    assert len(said) == 1
    assert path.read_text().endswith('{"experiment": "ti')


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("{}", "it has no experiment"),
        ("no json", "it is no JSON"),
        ("[1]", "it is no JSON object"),
        ('{"experiment": "tiny"}', "it has no setting"),
    ],
)
def test_a_damaged_line_is_named(line, fault, tmp_path):
    path = tmp_path / "raw.jsonl"
    run(tiny(repetitions=1), path)
    content = path.read_text()
    path.write_text(content + f"{line}\n" + content)
    with pytest.raises(DataError) as error:
        run(tiny(), path)
    assert str(error.value) == (
        f"'{path}', line 7, is not a raw row: {fault}. Remove that line, or name "
        "another folder with --out."
    )


@pytest.mark.parametrize(
    ("name", "value", "fault"),
    [
        ("accuracy", 5.0, "a number from 0 to 1 or null, and is 5.0"),
        ("accuracy", "0.5", 'a number from 0 to 1 or null, and is "0.5"'),
        ("accuracy", True, "a number from 0 to 1 or null, and is true"),
        ("accuracy", math.nan, "a number from 0 to 1 or null, and is NaN"),
        ("repetition", "1", 'an integer >= 0, and is "1"'),
        ("repetition", 1.5, "an integer >= 0, and is 1.5"),
        ("setting", ["a"], 'text, and is ["a"]'),
        ("n_hidden", -1, "an integer >= 0, and is -1"),
        ("seconds", None, "a number >= 0, and is null"),
        ("score", "high", 'a number or null, and is "high"'),
        ("parameters", 3, "an object, and is 3"),
        ("n_arcs", "many", 'a number or null, and is "many"'),
    ],
)
def test_a_field_of_the_wrong_kind_is_named(name, value, fault, tmp_path):
    path = tmp_path / "raw.jsonl"
    arcs = Measure("n_arcs", "number of arcs")
    experiment = replace(tiny(repetitions=1), measures=(arcs,))
    rows, _ = run(experiment, path)
    rows[2] = {**rows[2], name: value}
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    wanted = f"line 3, is not a raw row: {name} must be {fault}. Remove"
    with pytest.raises(DataError, match=re.escape(wanted)):
        run(experiment, path)


@pytest.mark.parametrize("name", ["n_hidden", "seconds", "status", "design"])
def test_a_field_that_is_absent_is_named(name, tmp_path):
    path = tmp_path / "raw.jsonl"
    rows, _ = run(tiny(repetitions=1), path)
    del rows[1][name]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    with pytest.raises(DataError, match=f"line 2, is not a raw row: it has no {name}"):
        run(tiny(), path)


def test_absent_rows_are_an_error_to_read(tmp_path):
    with pytest.raises(DataError, match=r"no raw rows in .* Run the experiment first"):
        read_rows(tmp_path / "raw.jsonl", say=print)


def test_two_runs_do_not_write_to_one_file(tmp_path):
    path = tmp_path / "raw.jsonl"
    with (
        RawRows(path, say=print),
        pytest.raises(ParameterError, match="another run is writing to"),
    ):
        run(tiny(), path)


# --- protocol -------------------------------------------------------------------------


def other_methods():
    return (FIRST, LAST, replace(EXACT, options={"max_parents": 3}))


@pytest.mark.parametrize(
    ("other", "difference"),
    [
        (tiny(seed=2), "seed was 1, is 2"),
        (tiny(methods=other_methods()), "method.max_parents was 2, is 3"),
        (
            replace(tiny(), settings=(Setting("state/0", {"state": 1}, range(3)),)),
            'setting.state was 0, is 1; stream was "tiny", is "state/0"',
        ),
    ],
    ids=["seed", "method", "setting"],
)
def test_rows_of_another_protocol_are_never_mixed_in(other, difference, tmp_path):
    path = tmp_path / "raw.jsonl"
    run(tiny(repetitions=1), path)
    before = path.read_bytes()
    with pytest.raises(ParameterError, match="holds rows of another protocol") as error:
        run(other, path)
    assert difference in str(error.value)
    assert str(error.value).endswith("or name another folder with --out.")
    assert path.read_bytes() == before


def test_rows_of_another_experiment_are_refused(tmp_path):
    path = tmp_path / "raw.jsonl"
    run(tiny(repetitions=1), path)
    with pytest.raises(ParameterError, match="holds rows of tiny, not of other"):
        run(replace(tiny(), name="other"), path)


def test_more_repetitions_methods_and_settings_are_the_same_protocol(tmp_path):
    path = tmp_path / "raw.jsonl"
    run(select(tiny(), quick=True, methods=["exact"], settings=["state/1"]), path)
    assert len(lines_of(path)) == 1
    rows, _ = run(tiny(), path)
    assert len(rows) == 18


def test_a_part_is_chosen_by_name():
    part = select(tiny(), methods=["last", "first"], settings=["state/1"])
    assert [method.name for method in part.methods] == ["first", "last"]
    assert [setting.name for setting in part.settings] == ["state/1"]
    with pytest.raises(ParameterError, match=r"no method 'best'\. Known: exact, first"):
        select(tiny(), methods=["best"])
    with pytest.raises(
        ParameterError, match=r"no setting that starts with 'x'\. Known"
    ):
        select(tiny(), settings=["x"])


def test_a_setting_may_have_methods_of_its_own():
    settings = (Setting("state/0", {"state": 0}, [4], methods=("last",)),)
    units = list(replace(tiny(), settings=settings).runs())
    assert [(run.repetition, method.name) for run, method in units] == [(4, "last")]


# --- trouble --------------------------------------------------------------------------


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_failure_names_the_run(jobs, tmp_path):
    broken = tiny(repetitions=1, methods=(Method("broken", "broken", fail),))
    with pytest.raises(RunError) as error:
        run(broken, tmp_path / "raw.jsonl", jobs=jobs)
    assert str(error.value).endswith(
        "repetition 0, method broken: unexpected ZeroDivisionError: division by zero"
    )
    assert str(error.value).startswith("tiny, setting state/")


def test_a_worker_that_dies_is_reported(tmp_path):
    deadly = tiny(repetitions=1, methods=(Method("deadly", "deadly", die),))
    with pytest.raises(RunError, match=r"a worker process has died, .* --jobs"):
        run(deadly, tmp_path / "raw.jsonl", jobs=2)


def test_jobs_must_be_positive(tmp_path):
    with pytest.raises(ParameterError, match="jobs must be an integer >= 1"):
        run(tiny(), tmp_path / "raw.jsonl", jobs=0)


@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_stops_and_keeps_the_rows(jobs, tmp_path):
    path, log = tmp_path / "raw.jsonl", tmp_path / "processes.log"
    long = Method("long", "long", dawdle, {"seconds": 30.0, "log": str(log)})
    experiment = tiny(repetitions=1, methods=(FIRST, long))

    def interrupt():
        wait_for(lambda: log.exists() and len(log.read_text().split()) == jobs)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        run(experiment, path, jobs=jobs)
    thread.join()
    assert {row["method"] for row in lines_of(path)} == {"first"}
    others = {int(pid) for pid in log.read_text().split()} - {os.getpid()}
    assert len(others) == (0 if jobs == 1 else 2)
    wait_for(lambda: not any(map(is_alive, others)))


def catch(task, *, seed, n_threads):
    """Answer Ctrl-C with the best so far, as learners do."""
    try:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(1)
    except KeyboardInterrupt:
        pass
    return FIRST.solve(task, seed=seed, n_threads=n_threads, state=0)


def test_the_best_so_far_of_an_interrupted_method_is_no_result(tmp_path):
    path = tmp_path / "raw.jsonl"
    experiment = tiny(repetitions=1, methods=(Method("calm", "calm", catch),))
    with pytest.raises(KeyboardInterrupt):
        run(experiment, path)
    assert lines_of(path) == []


def test_a_single_run_can_be_repeated_from_its_row(tmp_path):
    experiment = tiny()
    rows, _ = run(experiment, tmp_path / "raw.jsonl")
    units = {
        (r.setting.name, r.repetition, m.name): (r, m) for r, m in experiment.runs()
    }
    row = rows[-1]
    unit = units[row["setting"], row["repetition"], row["method"]]
    assert timeless([execute(experiment, unit, NOWHERE, n_threads=1)]) == timeless(
        [row]
    )


def test_missing_data_are_named_with_their_public_source(tmp_path):
    wanted = Setting("a", {}, [0], files=("networks/child.bif",))
    other = Setting("b", {}, [0], files=("car.csv",))
    wanting = replace(tiny(), settings=(wanted, other))
    with pytest.raises(DataError) as error:
        run(wanting, tmp_path / "raw.jsonl")
    assert str(error.value).startswith(
        "no folder of data is named. Name one with --data"
    )
    assert "car.csv (Car Evaluation, UCI Machine Learning Repository" in str(
        error.value
    )
    (tmp_path / "car.csv").write_text("a\n1\n")
    with pytest.raises(DataError) as error:
        DataFolder(tmp_path).check(wanting.files)
    assert "car.csv" not in str(error.value)
    assert "networks/child.bif (CHILD, Bayesian Network Repository" in str(error.value)


# --- where rows come from -------------------------------------------------------------


def make_from_file(run, folder):
    table = folder.table("car.csv")
    return Task(bm.hide_mcar(table, 0.5, seed=run.seed))


def from_file(repetitions=1):
    setting = Setting("state/0", {"state": 0}, range(repetitions), files=("car.csv",))
    return replace(
        tiny(methods=(FIRST,)), settings=(setting,), make=make_from_file, measure=None
    )


def test_a_row_names_its_build_and_its_data(tmp_path):
    text = b"a,b\nx,u\ny,v\n"
    (tmp_path / "car.csv").write_bytes(text)
    row = run_experiment(
        from_file(), tmp_path / "raw.jsonl", folder=DataFolder(tmp_path), say=print
    )[0]
    assert row["data"] == {"car.csv": hashlib.sha256(text).hexdigest()[:12]}
    assert row["build"] == build()
    packed = tmp_path / "packed"
    packed.mkdir()
    (packed / "car.csv.gz").write_bytes(gzip.compress(text))
    assert DataFolder(packed).checksums(["car.csv"]) == row["data"]


def test_a_build_is_told_by_sources_and_core(tmp_path):
    source, core = tmp_path / "package" / "a.py", tmp_path / "core.so"
    source.parent.mkdir()
    found = set()
    for text, binary in (("x", b"1"), ("y", b"1"), ("x", b"2"), ("x", b"1")):
        source.write_text(text)
        core.write_bytes(binary)
        found.add(checksum([source.parent], [core]))
    assert len(found) == 3
    source.rename(source.with_name("b.py"))
    assert checksum([source.parent], [core]) not in found


def test_rows_of_other_data_are_never_mixed_in(tmp_path):
    raw = tmp_path / "raw.jsonl"
    for name, text in {"one": "a,b\nx,u\ny,v\n", "two": "a,b\nx,u\ny,u\n"}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "car.csv").write_text(text)
    one, two = DataFolder(tmp_path / "one"), DataFolder(tmp_path / "two")
    run_experiment(from_file(), raw, folder=one, say=print)
    before = raw.read_bytes()
    with pytest.raises(DataError) as error:
        run_experiment(from_file(2), raw, folder=two, say=print)
    message = str(error.value)
    assert message.startswith("rows of setting state/0 were made with another file car")
    assert message.endswith("back, or start anew in another folder with --out.")
    assert raw.read_bytes() == before


def test_old_rows_and_those_of_another_build_are_taken_over(tmp_path):
    path = tmp_path / "raw.jsonl"
    rows, _ = run(tiny(repetitions=1), path)
    for row in rows[:2]:
        del row["build"], row["data"]
    rows[2]["build"] = "0123456789ab"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    again, _ = run(tiny(repetitions=2), path)
    assert len(again) == 12
