import gzip
import json

import numpy as np
import pytest
from hypothesis import given
from support.strategies import LABELS, networks

import bayesmend as bm
from bayesmend.errors import FormatError, ParameterError
from bayesmend.formats import read_model
from bayesmend.formats.ensemble import parse, render
from bayesmend.formats.text import Source
from bayesmend.network.mixture import Mixture

ASIA = bm.load_network("asia")


@given(networks(labels=LABELS))
def test_what_is_written_reads_back_equal(network):
    mixture = Mixture((network, network), np.array([0.25, 0.75]), chains=(0, 1))
    assert parse(Source(render(mixture))) == mixture
    assert parse(Source(render(Mixture((network,))))).chains is None


def test_an_ensemble_keeps_its_answers_through_a_file(tmp_path):
    table = {"a": [1.5, 2.5, 3.5, None] * 40, "b": ["x", "y", "y", "x"] * 40}
    data = bm.IncompleteData.from_table(table, discretize={"a": 2})
    found = bm.learn_ensemble(data, n_networks=3, classes=(2,), class_starts=1, seed=1)
    path = tmp_path / "some.json.gz"
    bm.write_ensemble(found, path)
    again = bm.read_ensemble(path)
    assert again == found.mixture
    assert again.schema == found.mixture.schema
    rows = {"a": [None, 1.5], "b": ["y", None]}
    one, other = (bm.impute(m, rows) for m in (found, again))
    assert one.to_table() == other.to_table()
    assert read_model(path) == again
    assert gzip.decompress(path.read_bytes()).startswith(b'{"format": "bayesmend-ens')


def test_a_file_tells_by_itself_what_it_holds(tmp_path):
    bm.write_network(ASIA, tmp_path / "one.json")
    bm.write_network(ASIA, tmp_path / "one.bif")
    bm.write_ensemble(Mixture((ASIA,)), tmp_path / "many.json")
    assert read_model(tmp_path / "one.json") == ASIA
    assert read_model(tmp_path / "one.bif") == ASIA
    assert read_model(tmp_path / "many.json") == Mixture((ASIA,))
    with pytest.raises(FormatError, match="Read it with read_ensemble"):
        bm.read_network(tmp_path / "many.json")
    (tmp_path / "none.json").write_text("{")
    with pytest.raises(FormatError, match="not valid JSON"):
        read_model(tmp_path / "none.json")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "bayesmend-network"}, "format must be 'bayesmend-ensemble'"),
        ({"version": 2}, "version must be 1"),
        ({"members": 1}, "members must be a list"),
        ({"weights": None}, "weights must be a list"),
        ({"n_vars": 0}, "n_vars must be an integer >= 1"),
        ({"weights": [0.5]}, "this is no ensemble: weights must be numbers"),
        ({"weights": ["x"]}, "this is no ensemble: could not convert"),
        ({"members": []}, "this is no ensemble: a mixture needs at least one"),
        ({"members": [{"format": 1}]}, "format must be 'bayesmend-network'"),
        ({"chains": [1, 2]}, "chains must have one entry per network"),
    ],
)
def test_what_is_no_ensemble_is_told_with_its_place(change, message):
    document = json.loads(render(Mixture((ASIA,)))) | change
    with pytest.raises(FormatError, match=message):
        parse(Source(json.dumps(document)))
    with pytest.raises(FormatError, match="an ensemble must be a JSON object"):
        parse(Source("[]"))


def test_names_and_things_that_cannot_be_written_are_refused(tmp_path):
    with pytest.raises(ParameterError, match=r"ending in \.json or \.json\.gz"):
        bm.write_ensemble(Mixture((ASIA,)), tmp_path / "many.bif")
    with pytest.raises(ParameterError, match="write it with write_network"):
        bm.write_ensemble(ASIA, tmp_path / "one.json")
