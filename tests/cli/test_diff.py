"""The diff command: what sets two networks apart."""

import json

import pytest
from support.clirunner import fails, ok

import bayesmend as bm

ASIA = bm.load_network("asia")


@pytest.fixture
def other(tmp_path):
    arcs = {*ASIA.dag.arcs} - {("asia", "tub"), ("smoke", "lung")}
    dag = bm.Dag.from_arcs(ASIA.names, arcs | {("lung", "smoke"), ("asia", "xray")})
    path = tmp_path / "other.bif"
    bm.write_network(bm.Network.fit(dag, ASIA.sample(50, seed=1)), path)
    return path


def test_what_is_told_leads_from_the_first_to_the_second(other):
    assert ok("diff", "asia", other).splitlines() == [
        "distance 2; of the edges, whatever their direction: precision 0.875, "
        "recall 0.875, f1 0.875",
        "same: 6",
        "added: 1",
        "  asia -> xray",
        "lost: 1",
        "  asia -> tub",
        "reversed: 1",
        "  lung -> smoke",
        "joined differently in the equivalence classes: 2",
        "  asia -- tub  became  nothing",
        "  nothing      became  asia -> xray",
    ]


def test_json_is_what_the_library_tells(other):
    found = bm.graph.compare_graphs(ASIA.dag, bm.read_network(other).dag)
    assert json.loads(ok("diff", "asia", other, "--json")) == found.to_dict()
    text = other.read_text()
    told = ok("diff", "asia", "-", "--json", stdin=text)
    assert json.loads(told) == found.to_dict()


@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_a_picture_has_the_arcs_of_both(other, tmp_path, suffix):
    if suffix == "png":
        pytest.importorskip("matplotlib")
    out = tmp_path / f"diff.{suffix}"
    ok("diff", "asia", other, "--out", out)
    if suffix == "svg":
        words = ["both", "added", "lost", "reversed"]
        assert all(f">{word}</text>" in out.read_text() for word in words)
    assert "exists. Pass --force" in fails(1, "diff", "asia", other, "--out", out)


def test_what_cannot_be_compared_is_told(other, tmp_path):
    assert fails(1, "diff", "asia", "lucas") == (
        "Error: the graphs must have the same variables, but 'Allergy' is in one of "
        "them only."
    )
    assert "a picture is written as .svg, .png or .pdf" in fails(
        1, "diff", "asia", other, "--out", tmp_path / "diff.gif"
    )
    assert "cannot both be stdin" in fails(2, "diff", "-", "-")
