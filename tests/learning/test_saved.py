"""Results as files: they come back as they were, or are refused."""

import base64
import contextlib
import dataclasses
import functools
import gzip
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayesmend as bm
from bayesmend.errors import DataError, ParameterError
from bayesmend.learning.saved import saved
from bayesmend.report import render_report

ASIA = bm.load_network("asia").sample(60, seed=1)
DATA = bm.hide_mcar(ASIA, 0.1, seed=1).data
MIXED = {
    "id": [f"p{k}" for k in range(40)],
    "age": [20 + (7 * k) % 50 + 0.5 for k in range(39)] + [None],
    "ill": ["yes", "no", None, "no"] * 10,
}


def same(a, b, path="result"):
    """Compare everything but the table that was read."""
    if dataclasses.is_dataclass(a) and not isinstance(a, bm.Network):
        assert type(a) is type(b), path
        for field in dataclasses.fields(a):
            if field.name != "origin":
                same(getattr(a, field.name), getattr(b, field.name), field.name)
    elif isinstance(a, np.ndarray):
        assert a.dtype == b.dtype, path
        np.testing.assert_array_equal(a, b, err_msg=path)
    elif hasattr(a, "items"):
        assert {*map(str, a)} == {*b}, path
        for key in a:
            same(a[key], b[str(key)], f"{path}.{key}")
    elif isinstance(a, list | tuple):
        assert len(a) == len(b), path
        for k, (x, y) in enumerate(zip(a, b, strict=True)):
            same(x, y, f"{path}[{k}]")
    else:
        assert a == b, path


@functools.cache
def learned(way):
    if way == "mixed":
        columns = {"id": "pass-through", "age": "model"}
        return bm.learn_em(MIXED, columns=columns, discretize={"age": 3}, seed=1)
    if way == "weights":
        table = {"a": list("xyx"), "b": ["u", None, "v"]}
        return bm.learn_em(table, weights=[1, 2, 3.5], columns=["a", "b"], seed=1)
    if way == "mechanism":
        return bm.learn(DATA, method="em", mechanism="self", seed=1)
    if way == "ensemble":
        return bm.learn(DATA, method="ensemble", n_networks=3, seed=1)
    return bm.learn(DATA, method=way, seed=1)


WAYS = ["exact", "local", "mechanism", "ensemble", "mixed", "weights"]


@pytest.mark.parametrize("way", WAYS)
def test_a_result_comes_back_whole_from_a_file_and_from_its_page(way, tmp_path):
    result = learned(way)
    bm.write_result(result, tmp_path / "result.json.gz")
    bm.write_report(result, tmp_path / "report.html")
    for name in ("result.json.gz", "report.html"):
        again = bm.read_result(tmp_path / name)
        same(result, again)
        assert render_report(again) == render_report(result)


def test_what_is_read_answers_as_what_was_learned(tmp_path):
    result = learned("ensemble")
    bm.write_result(result, tmp_path / "result.json")
    again = bm.read_result(tmp_path)  # the folder
    assert list(again.completed.to_table()) == list(ASIA.names)
    given = {"smoke": "yes", "xray": "no"}
    assert repr(bm.query(again, "lung", given=given)) == repr(
        bm.query(result, "lung", given=given)
    )


def test_a_file_of_facts_is_readable_json_besides(tmp_path):
    result = learned("exact")
    bm.write_result(result, tmp_path / "result.json")
    facts = json.loads((tmp_path / "result.json").read_text())
    kept = facts.pop("saved")
    assert facts == json.loads(json.dumps(result.to_dict()))
    assert (kept["format"], kept["version"]) == ("bayesmend-result", 1)


# --- what is refused ------------------------------------------------------------------


def contents_of(result):
    return json.loads(gzip.decompress(base64.b64decode(saved(result)["content"])))


def packed(contents):
    content = base64.b64encode(gzip.compress(json.dumps(contents).encode(), mtime=0))
    return {"format": "bayesmend-result", "version": 1, "content": content.decode()}


CONTENTS = contents_of(learned("mechanism"))


def read(document, tmp_path):
    path = tmp_path / "result.json"
    path.write_text(json.dumps(document))
    return bm.read_result(path)


@pytest.mark.parametrize(
    ("document", "why"),
    [
        ({"score": 1}, "it holds facts alone"),
        ([], "format must be 'bayesmend-result', and is None"),
        ({"format": "bayesmend-network"}, "and is 'bayesmend-network'"),
        ({**packed({}), "version": 2}, "version must be 1, and is 2"),
        ({**packed({}), "content": "?"}, "."),
        ({**packed({}), "content": "AAAA"}, "Not a gzipped file"),
        (packed({}), "its content was changed"),
        (packed({**CONTENTS, "certificate": "certain"}), "its content was changed"),
        (packed({**CONTENTS, "score": "high"}), "its content was changed"),
        (packed({**CONTENTS, "network": "{}"}), "format must be"),
    ],
)
def test_what_is_no_result_is_refused(document, why, tmp_path):
    with pytest.raises(DataError, match=f"is no saved result: .*{why}") as caught:
        read(document, tmp_path)
    assert "Name a result.json" in str(caught.value)


def test_other_files_are_refused(tmp_path):
    result = learned("exact")
    with pytest.raises(ParameterError, match=r"a result is kept as \.json\. Got"):
        bm.write_result(result, tmp_path / "result.bif")
    with pytest.raises(ParameterError, match=r"kept as \.json or \.html"):
        bm.read_result(tmp_path / "network.bif")
    with pytest.raises(DataError, match="cannot read"):
        bm.read_result(tmp_path)
    (tmp_path / "page.html").write_text("<p>a page</p>")
    with pytest.raises(DataError, match="the page holds none"):
        bm.read_result(tmp_path / "page.html")
    with pytest.raises(ParameterError, match="result must be a LearnResult"):
        bm.write_result(result.network, tmp_path / "result.json")


def places(value, path=()):
    """All places of nested JSON."""
    yield path
    items = value.items() if isinstance(value, dict) else ()
    items = enumerate(value[:3]) if isinstance(value, list) else items
    for key, item in items:
        yield from places(item, (*path, key))


def changed(value, path, new):
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = changed(copy[path[0]], path[1:], new)
    return copy


class _Read(Exception):
    """What was changed is a result still."""


PLACES = [path for path in places(CONTENTS) if path]
STRANGE = [None, True, -1, 256, 1e300, "x", [], {}, [[]], {"number": "nan"}, 10**30]


@given(st.sampled_from(PLACES), st.sampled_from(STRANGE))
def test_a_changed_file_is_refused_or_still_a_result(tmp_path_factory, path, new):
    folder = tmp_path_factory.mktemp("changed")
    document = packed(changed(CONTENTS, path, new))
    refused = pytest.raises(DataError, match="is no saved result")
    with contextlib.suppress(_Read), refused:
        found = read(document, folder)
        assert isinstance(found, bm.LearnResult)
        assert repr(found)
        raise _Read
