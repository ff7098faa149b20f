"""Proofs of known tables and candidates are accepted, and checking them is not slow."""

import gzip
import time
import warnings

import pytest
from support.shared import DATA

import bayesmend as bm
from bayesmend.formats import jkl
from bayesmend.hiding import hide_value_per_variable
from bayesmend.structure import solve
from bayesmend.verification import verify

pytestmark = pytest.mark.slow
NEEDS_DATA = pytest.mark.skipif(not DATA.is_dir(), reason=f"there is no {DATA}")
PAPER = {"prior": "uniform", "support": 0.0, "max_parents": 3, "seed": 1}
SMALL = ("survey", "sachs", "mildew", "child", "barley", "insurance", "hailfinder")
# Of the search; the target is 20 on an idle machine, and half a second to begin with.
TIMES, BEGIN = 40, 0.5


def seconds_of(call):
    begun = time.process_time()
    return call(), time.process_time() - begun


def check(search, data, proof):
    _, alone = seconds_of(search)
    found = search(certificate=proof)
    shown, checking = seconds_of(lambda: verify(found, data))
    assert (shown.lie, shown.unchecked) == (None, ())
    assert found.status == "optimal"
    assert checking <= TIMES * alone + BEGIN


def hidden(data, number, state):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some states are rarer
        return hide_value_per_variable(data, number, state=state, seed=1).data


@pytest.mark.parametrize("state", [0, 1])
def test_asia_with_two_cells_of_each_variable_hidden(state, tmp_path):
    data = hidden(bm.load_network("asia").sample(100, seed=1), 2, state)

    def search(certificate=None):
        return bm.learn_exact(data, certificate=certificate, **PAPER)

    check(search, data, tmp_path / "p.json.gz")


@NEEDS_DATA
@pytest.mark.parametrize("state", [0, 1])
def test_lucas_with_three_cells_of_each_variable_hidden(state, tmp_path):
    data = hidden(bm.IncompleteData.from_table(DATA / "lucas.csv"), 3, state)

    def search(certificate=None):
        return bm.learn_exact(data, certificate=certificate, **PAPER)

    check(search, data, tmp_path / "p.json.gz")


@NEEDS_DATA
def test_smoking(tmp_path):
    roles = {"race": "drop"}
    data = bm.IncompleteData.from_table(DATA / "smoking.csv", columns=roles)
    assert data.n_missing == 117

    def search(certificate=None):
        return bm.learn_exact(data, certificate=certificate, **PAPER)

    check(search, data, tmp_path / "p.json.gz")


@NEEDS_DATA
@pytest.mark.parametrize("name", SMALL)
def test_candidates_of_others(name, tmp_path):
    path = DATA / "jkl" / f"{name}-5000.jkl.gz"
    lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    sets = jkl.parse("\n".join(line for line in lines if line[:1] != "#"))

    def search(certificate=None):
        return solve(sets, seed=1, certificate=certificate)

    check(search, path, tmp_path / "p.json.gz")


@NEEDS_DATA
@pytest.mark.parametrize("name", ["lucas", "coronary", "zoo", "lymphography", "spect"])
def test_complete_tables(name, tmp_path):
    data = bm.IncompleteData.from_table(DATA / f"{name}.csv")

    def search(certificate=None):
        return bm.learn_structure(data, certificate=certificate, seed=1)

    check(search, data, tmp_path / "p.json.gz")
