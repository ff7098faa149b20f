"""Tables on the workers of a real cluster: what one machine gives, to the last bit."""

import os
import signal
import sys

import numpy as np
import pandas as pd
import pytest
from support.clirunner import run

import bayesmend as bm
from bayesmend.errors import (
    ClusterError,
    DataError,
    MissingDependencyError,
    ParameterError,
)
from bayesmend.learning.cluster import learn as cluster_learn
from bayesmend.learning.em import growth
from bayesmend.structure import candidates

dd = pytest.importorskip("dask.dataframe", reason="the extra distributed is missing")
distributed = pytest.importorskip("distributed")

pytestmark = [
    pytest.mark.filterwarnings("ignore"),  # of dask and its loops
    pytest.mark.xdist_group("cluster"),
]


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def holed(n_rows, seed=1, share=0.1):
    asia = bm.load_network("asia")
    return bm.hide_mcar(asia.sample(n_rows, seed=seed), share, seed=seed).data


def same(one, other):
    assert one.network.dag == other.network.dag
    assert one.network.states == other.network.states
    for a, b in zip(one.network.cpts, other.network.cpts, strict=True):
        assert np.array_equal(a, b)
    assert one.score == other.score
    assert one.log_likelihood == other.log_likelihood
    assert one.structure_rows == other.structure_rows


def split(frame, ends):
    """A dask frame of partitions that end at some rows."""
    from dask import delayed

    parts = [
        frame.iloc[a:b] for a, b in zip([0, *ends], [*ends, len(frame)], strict=False)
    ]
    return dd.from_delayed([delayed(part) for part in parts], meta=frame.iloc[:0])


@pytest.fixture
def quick(monkeypatch):
    """Samples that begin so small that a table of some thousand rows is long."""
    monkeypatch.setattr(growth, "FIRST_ROWS", 400)
    monkeypatch.setattr(growth, "_ROWS_PER_CELL", 1)


# With so little memory samples stop growing before they are the whole table.
EM = {"method": "em", "restarts": 0, "seed": 1, "max_memory": 2.0**18}


def test_the_network_is_that_of_one_machine(client, quick):
    frame = holed(4000).to_pandas()
    one = bm.learn(frame, **EM)
    # Of unequal size, and some without rows.
    parts = split(frame, [0, 37, 37, 3000])
    there = bm.learn(parts, client=client, **EM)
    assert one.structure_rows == 1585
    same(there, one)
    assert len(there.completed) == 0
    assert (there.detail["n_rows"], there.detail["n_parts"]) == (4000, 5)


def test_columns_are_taken_for_what_the_whole_table_has(client, quick):
    rng = np.random.default_rng(0)
    n = 3000
    frame = pd.DataFrame(
        {
            "id": np.arange(n),
            "late": np.where(np.arange(n) < 2900, "a", rng.choice(["a", "b", "c"], n)),
            "age": rng.integers(0, 90, n),
            "size": rng.normal(size=n),
            "kind": pd.Categorical(rng.choice(["x", "y"], n), ["y", "x", "z"]),
            "weight": rng.integers(1, 4, n).astype(float),
        }
    )
    for name in ("late", "age", "size"):
        frame.loc[rng.random(n) < 0.1, name] = None
    options = {**EM, "weights": "weight"}
    one = bm.learn(frame, **options)
    there = bm.learn(split(frame, [10, 1500]), client=client, **options)
    same(there, one)
    assert there.network.schema.columns == one.network.schema.columns
    assert there.network.schema.discretization == one.network.schema.discretization


@pytest.mark.slow
def test_files_are_read_by_workers(client, quick, tmp_path):
    frame = holed(3000).to_pandas()
    for k, (first, last) in enumerate([(0, 1000), (1000, 1000), (1000, 3000)]):
        frame[first:last].to_csv(tmp_path / f"part-{k}.csv", index=False)
    files = str(tmp_path / "part-*.csv")
    same(bm.learn(files, client=client, **EM), bm.learn(files, **EM))


@pytest.mark.slow
def test_auto_weighs_a_long_table_that_can_come_here_as_one_machine_does(client, quick):
    frame = holed(4000, share=0.002).to_pandas()
    how = {"seed": 1, "restarts": 0}
    one = bm.learn(frame, **how)
    there = bm.learn(split(frame, [100]), client=client, **how)
    same(there, one)
    assert there.chosen == one.chosen


@pytest.mark.slow
def test_auto_counts_what_is_too_large_to_come_here(client, quick, monkeypatch):
    monkeypatch.setattr(cluster_learn, "_FEW_CELLS", 1000)
    frame = holed(4000).to_pandas()
    there = bm.learn(split(frame, [100]), client=client, seed=1, restarts=0)
    assert there.method == "em"
    assert "stay on the cluster" in there.chosen


def test_candidates_are_those_of_one_machine(client, monkeypatch):
    monkeypatch.setattr(candidates, "_SECONDS_FOR_CLUSTER", 0.0)
    data = bm.load_network("asia").sample(300, seed=1)
    constraints = {"required": [("smoke", "lung")], "max_parents": {"bronc": 1}}
    how = {"search": "promising", "max_sets": 12, "constraints": constraints}
    one = bm.structure.candidate_parents(data, **how)
    there = bm.structure.candidate_parents(data, client=client, **how)
    for a, b in zip(there.arrays, one.arrays, strict=True):
        assert np.array_equal(a, b)
    own = {"max_sets": 12, "seed": 1}
    one, there = (bm.learn_structure(data, client=at, **own) for at in (None, client))
    assert there.score == one.score
    assert there.dag == one.dag


@pytest.mark.slow
def test_short_tables_come_here_for_any_method(client):
    frame = holed(40, share=0.02).to_pandas()
    for method in ("exact", "em"):
        one = bm.learn(frame, method=method, restarts=1, seed=1)
        there = bm.learn(
            split(frame, [50]), client=client, method=method, restarts=1, seed=1
        )
        same(there, one)


@pytest.mark.slow
def test_text_and_numbers_in_different_files_are_mixed(client, tmp_path):
    for k, cells in enumerate((["x", "y"], [1, 2])):
        frame = pd.DataFrame({"a": cells, "b": ["u", "v"]})
        frame.to_parquet(tmp_path / f"{k}.parquet")
    with pytest.raises(DataError, match=r"mixes text \(in 0.parquet\) and numbers"):
        bm.learn(str(tmp_path / "*.parquet"), client=client, columns=["a", "b"])


@pytest.mark.parametrize("client", [3, "host:8786", b"tcp://a:1"])
def test_what_is_no_client_is_refused(client):
    with pytest.raises(ParameterError, match="address of a scheduler"):
        bm.learn("a.csv", client=client)


@pytest.mark.slow
def test_a_scheduler_that_does_not_answer_is_told():
    with pytest.raises(ClusterError, match="no scheduler answers"):
        bm.learn("a.csv", client="tcp://127.0.0.1:1")


def test_the_extra_is_named_where_it_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingDependencyError, match=r"bayesmend\[distributed\]"):
        bm.learn("a.csv", client="tcp://127.0.0.1:1")


def test_a_dask_frame_needs_a_client():
    with pytest.raises(DataError, match="Pass client="):
        bm.learn(dd.from_pandas(holed(20).to_pandas(), npartitions=2))


def test_a_table_in_memory_is_refused(client):
    with pytest.raises(ParameterError, match="in memory already"):
        bm.learn(holed(50), client=client)


def kill_in_the_middle(monkeypatch, act):
    """Act once, when all rows are counted under some parameters for the third time."""
    from bayesmend.learning.cluster import partitions

    expect, calls = partitions.ExpectingThere.expect, []

    def counted(self, cpts):
        calls.append(1)
        if len(calls) == 3:
            act()
        return expect(self, cpts)

    monkeypatch.setattr(partitions.ExpectingThere, "expect", counted)
    return calls


@pytest.mark.slow
def test_a_worker_that_is_killed_changes_nothing(quick, monkeypatch):
    frame = holed(4000).to_pandas()
    one = bm.learn(frame, **EM)
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        pids = list(client.run(os.getpid).values())
        calls = kill_in_the_middle(
            monkeypatch, lambda: os.kill(pids[0], signal.SIGKILL)
        )
        there = bm.learn(split(frame, [1000, 2500]), client=client, **EM)
        assert len(calls) > 3
        assert pids[0] not in client.run(os.getpid).values()
    same(there, one)


@pytest.mark.slow
def test_a_cluster_that_goes_away_is_told_and_its_checkpoint_goes_on(
    quick, monkeypatch, tmp_path
):
    frame = holed(4000).to_pandas()
    one = bm.learn(frame, **EM)

    def cluster():
        return distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None
        )

    parts, kept = split(frame, [1000, 2500]), tmp_path / "kept"
    first = cluster()
    client = distributed.Client(first)
    with monkeypatch.context() as patch:
        kill_in_the_middle(patch, first.close)
        with pytest.raises(ClusterError, match="is gone"):
            bm.learn(parts, client=client, checkpoint=kept, **EM)
    client.close()
    with cluster() as second, distributed.Client(second) as client:
        there = bm.learn(parts, client=client, checkpoint=kept, **EM)
    same(there, one)


@pytest.mark.slow
def test_bootstrap_samples_are_those_of_one_machine(client):
    data = holed(150)
    options = {"n": 6, "method": "em", "restarts": 0, "seed": 1}
    there = bm.bootstrap(data, client=client, **options)
    assert there.structures == bm.bootstrap(data, **options).structures


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", ["ignore", "self"])
def test_members_of_an_ensemble_are_those_of_one_machine(client, mechanism):
    data = holed(120)
    options = {"n_networks": 6, "classes": [2], "class_starts": 2, "seed": 1}
    options["mechanism"] = mechanism
    one = bm.learn_ensemble(data, **options)
    there = bm.learn_ensemble(data, client=client, **options)
    assert there.mixture == one.mixture
    assert np.array_equal(there.completed.codes, one.completed.codes)
    assert np.array_equal(there.cells.probabilities, one.cells.probabilities)


@pytest.mark.slow
def test_files_are_completed_by_workers(client, tmp_path):
    asia = bm.load_network("asia")
    for k in range(3):
        holed(50, seed=k).write_csv(tmp_path / f"part-{k}.csv")
    files = str(tmp_path / "part-*.csv")
    one = bm.inference.impute_files(asia, files, tmp_path / "one")
    there = bm.inference.impute_files(asia, files, tmp_path / "there", client=client)
    assert there.to_dict() | {"files": 0} == one.to_dict() | {"files": 0}
    for a, b in zip(one.files, there.files, strict=True):
        assert a.read_bytes() == b.read_bytes()


@pytest.mark.slow
def test_commands_take_the_address_of_a_scheduler(client, tmp_path):
    for k in range(3):
        holed(20_000, seed=k).write_csv(tmp_path / f"part-{k}.csv")
    files, out = tmp_path / "part-*.csv", tmp_path / "out"
    address = client.scheduler.address
    how = ("--method", "em", "--restarts", "0", "--seed", "1")
    ended = run("learn", files, "--scheduler", address, "--out", out, *how)
    assert ended.exit_code == 0
    assert "the rows stay on the cluster" in ended.stderr
    assert sorted(path.name for path in out.iterdir()) == ["network.bif", "result.json"]
    one = bm.learn(str(files), method="em", restarts=0, seed=1)
    assert bm.read_network(out / "network.bif") == one.network
    assert bm.read_result(out).score == one.score
    filled = tmp_path / "filled"
    network = out / "network.bif"
    there = ("--scheduler", address, "--out")
    assert run("impute", network, files, *there, filled).exit_code == 0
    assert len(list(filled.iterdir())) == 3
    ended = run("learn", "-", *there, tmp_path / "new")
    assert (ended.exit_code, "cannot read stdin" in ended.stderr) == (2, True)
