"""Limits of containers, as control groups of both versions tell them."""

import math
import os
import subprocess
import sys

import pytest

from bayesmend import _clock, _core
from bayesmend._container import allowed_cores, memory_left

GB = 2**30
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None


def made(root, files):
    """Write files of a system, by their paths."""
    for path, content in files.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f"{content}\n")
    return root


def group(folder, **files):
    return {f"{folder}/{name.replace('__', '.')}": text for name, text in files.items()}


MINE = "sys/fs/cgroup/jobs/mine"
ABOVE = "sys/fs/cgroup/jobs"
OLD = "sys/fs/cgroup/memory"
OWN = {"proc/self/cgroup": "0::/jobs/mine"}
UNLIMITED = 9223372036854771712  # as version 1 tells that there is no limit

MEMORY = {
    "no groups at all": ({}, math.inf),
    "a container": (
        {
            "proc/self/cgroup": "0::/",
            **group("sys/fs/cgroup", memory__max=4 * GB, memory__current=GB),
        },
        3 * GB,
    ),
    "a group without a limit": (
        {**OWN, **group(MINE, memory__max="max", memory__current=GB)},
        math.inf,
    ),
    "a group": (
        {**OWN, **group(MINE, memory__max=2 * GB, memory__current=GB)},
        GB,
    ),
    "a group beyond its limit": (
        {**OWN, **group(MINE, memory__max=GB, memory__current=2 * GB)},
        0,
    ),
    "a group that is slowed down first": (
        {
            **OWN,
            **group(MINE, memory__max=9 * GB, memory__high=3 * GB, memory__current=GB),
        },
        2 * GB,
    ),
    "the group above has less": (
        {
            **OWN,
            **group(MINE, memory__max=8 * GB, memory__current=GB),
            **group(ABOVE, memory__max=8 * GB, memory__current=7 * GB),
        },
        GB,
    ),
    "files that were read make room": (
        {
            **OWN,
            **group(MINE, memory__max=4 * GB, memory__current=3 * GB),
            f"{MINE}/memory.stat": f"anon {GB}\ninactive_file {2 * GB}\nslab 7",
        },
        3 * GB,
    ),
    "version 1": (
        {
            "proc/self/cgroup": "5:cpu,cpuacct:/jobs\n4:memory:/jobs/mine\n0::/",
            **group(
                OLD,
                memory__limit_in_bytes=UNLIMITED,
                memory__usage_in_bytes=9 * GB,
            ),
            **group(
                f"{OLD}/jobs/mine",
                memory__limit_in_bytes=6 * GB,
                memory__usage_in_bytes=4 * GB,
            ),
            f"{OLD}/jobs/mine/memory.stat": f"cache 8\ntotal_inactive_file {GB}",
        },
        3 * GB,
    ),
    "version 1 in a container that does not see its name": (
        {
            "proc/self/cgroup": "4:memory:/docker/0123456789",
            **group(OLD, memory__limit_in_bytes=2 * GB, memory__usage_in_bytes=GB),
        },
        GB,
    ),
    "a name that leads outside": (
        {
            "proc/self/cgroup": "0::/../../elsewhere",
            **group("sys/fs/cgroup", memory__max=2 * GB, memory__current=GB),
        },
        GB,
    ),
    "nothing that makes sense": (
        {
            "proc/self/cgroup": "what\n::\n0",
            **group("sys/fs/cgroup", memory__max="soon", memory__current=""),
        },
        math.inf,
    ),
}


@pytest.mark.parametrize("kind", MEMORY)
def test_memory_is_what_all_groups_leave(kind, tmp_path):
    files, left = MEMORY[kind]
    assert memory_left(made(tmp_path, files)) == left


def two(quota):
    return group(MINE, cpu__max=quota)


QUOTAS = {
    "none": ({}, None),
    "no limit": ({**OWN, **two("max 100000")}, None),
    "one core": ({**OWN, **two("100000 100000")}, 1),
    "half a core": ({**OWN, **two("50000 100000")}, 1),
    "a core and a half": ({**OWN, **two("150000 100000")}, 2),
    "the group above has less": (
        {**OWN, **two("900000 100000"), **group(ABOVE, cpu__max="100000 100000")},
        1,
    ),
    "version 1": (
        {
            "proc/self/cgroup": "3:cpuacct,cpu:/\n0::/",
            **group(
                "sys/fs/cgroup/cpu",
                cpu__cfs_quota_us=100000,
                cpu__cfs_period_us=100000,
            ),
        },
        1,
    ),
    "version 1 without a limit": (
        group("sys/fs/cgroup/cpu", cpu__cfs_quota_us=-1, cpu__cfs_period_us=100000),
        None,
    ),
    "nothing that makes sense": ({**OWN, **two("1 0")}, None),
}


@pytest.mark.parametrize("kind", QUOTAS)
def test_cores_are_what_all_groups_allow(kind, tmp_path):
    files, most = QUOTAS[kind]
    there = [count for count in (CORES, most) if count is not None]
    found = allowed_cores(made(tmp_path, files))
    assert found == (min(there) if there else None)


def test_what_a_group_leaves_is_what_there_is(monkeypatch):
    monkeypatch.setattr(_clock, "memory_left", lambda: 12345.0)
    assert _clock.available_memory() == 12345.0


def test_cores_can_be_limited_and_given_back():
    there = _core.n_cores()
    try:
        _core.limit_cores(1)
        assert (_core.n_cores(), _core.max_threads()) == (1, 8)
        _core.limit_cores(10**6)
        assert _core.n_cores() <= 10**6
    finally:
        _core.limit_cores(there)


@pytest.mark.skipif(CORES is None, reason="needs affinity, as Linux has it")
def test_cores_that_the_process_may_not_run_on_do_not_count():
    script = (
        "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
        "import bayesmend as bm\nbm.load_network('asia').sample(10)\n"
        "from bayesmend import _core; print(_core.n_cores())"
    )
    told = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert told.stdout.strip() == "1"
