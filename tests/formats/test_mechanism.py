"""Networks that know why cells are missing, as files."""

import numpy as np
import pytest

import bayesmend as bm
from bayesmend.errors import FormatError
from bayesmend.formats import bif, json
from bayesmend.network.mechanism import Mechanism

NETWORK = bm.Network(
    bm.Dag.from_arcs(["age; of", "b", "missing_b"], [("age; of", "b")]),
    (("low", "high"),) * 3,
    ([[0.3, 0.7]], [[0.1, 0.9], [0.6, 0.4]], [[0.5, 0.5]]),
    mechanism=Mechanism(
        ("b", "age; of"),
        (("age; of", "b"), ()),
        (np.array([[0.9, 0.1], [0.7, 0.3], [0.2, 0.8], [1 / 3, 2 / 3]]), [[0.6, 0.4]]),
    ),
)


@pytest.mark.parametrize("format", [json, bif])
def test_files_keep_why_cells_are_missing(format):
    again = format.parse(format.render(NETWORK))
    assert again == NETWORK
    assert again.mechanism == NETWORK.mechanism


def test_other_programs_see_ordinary_variables_in_bif():
    text = bif.render(NETWORK)
    plain = "\n".join(line for line in text.splitlines() if "property" not in line)
    again = bif.parse(plain)
    assert again == NETWORK.with_indicators()
    assert again.names[3:] == ("missing_b_", "missing_age; of")


def test_an_indicator_with_children_stays_a_variable():
    other = NETWORK.with_indicators()
    of = {"missing_b_": "b", "missing_age; of": "age; of"}
    assert other.without_indicators(of) == NETWORK
    assert other.without_indicators({}) == other
    assert other.without_indicators({"b": "age; of"}) == other


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"mechanism": {', '"mechanism": 3, "x": {', "must give each variable its par"),
        ('"mechanism": {"b"', '"mechanism": {"z"', "names 'z', which is no variable"),
        (
            '"parents": ["age; of", "b"]',
            '"parents": ["b"]',
            "must have 2 distributions",
        ),
    ],
)
def test_a_mechanism_that_cannot_be_read_is_told(old, new, message):
    text = json.render(NETWORK)
    assert old in text
    with pytest.raises(
        FormatError, match=f"line 6.* the mechanism cannot be.*{message}"
    ):
        json.parse(text.replace(old, new))


def test_a_property_that_is_no_name_is_told():
    text = bif.render(NETWORK).replace("indicator_of = Yg", "indicator_of = %%")
    with pytest.raises(FormatError, match="bayesmend_indicator_of cannot be unpacked"):
        bif.parse(text)
