"""Networks in files remember how the table learned from was read."""

import base64
import datetime
import json as js
import zlib
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

import bayesmend as bm
from bayesmend.data.schema import ColumnRole, Schema
from bayesmend.errors import DataError, FormatError
from bayesmend.formats import bif, convert, graphml, json, xmlbif
from bayesmend.formats.remembered import Remembered

FORMATS = {"json": json, "bif": bif, "xmlbif": xmlbif, "graphml": graphml}


def people(n=120, seed=1):
    """A table of ages, incomes and jobs with missing cells."""
    generator = np.random.default_rng(seed)
    age = generator.integers(18, 80, n)
    income = (age * 1.5 + generator.normal(0, 3, n)).round(1)
    frame = pd.DataFrame(
        {
            "age": age.astype(float),
            "income": income,
            "old": np.where(age > 45, "yes", "no"),
        }
    )
    frame.loc[generator.random(n) < 0.2, "age"] = np.nan
    frame.loc[generator.random(n) < 0.2, "income"] = np.nan
    return frame


CUT = {"discretize": {"age": 3, "income": 3}}


@pytest.fixture(scope="module")
def network():
    return bm.learn_em(people(), seed=1, **CUT).network


@pytest.mark.parametrize("module", FORMATS.values(), ids=FORMATS)
def test_every_format_gives_the_schema_back(network, module):
    back = module.parse(module.render(network))
    assert back.schema == network.schema
    rule = network.schema.discretization
    assert back.schema.discretization.numbers == rule.numbers
    assert [column.name for column in back.schema.of("cut")] == ["age", "income"]
    # A network without one stays without.
    bare = replace(network, schema=None)
    assert module.parse(module.render(bare)).schema is None


def test_graphs_of_networkx_carry_the_schema(network):
    pytest.importorskip("networkx")
    assert convert.from_networkx(convert.to_networkx(network)).schema == network.schema


def test_the_schema_does_not_count_when_networks_are_compared(network):
    assert replace(network, schema=None) == network


def test_the_property_of_bif_is_one_plain_line(network):
    head = bif.render(network).partition("variable")[0].splitlines()
    assert head[0] == "network unknown {"
    assert head[1].startswith("  property bayesmend_schema = ")
    word = head[1].split(" = ")[1]
    assert word.endswith(";")
    assert word[:-1].replace("-", "").replace("_", "").isalnum()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("network n { property bayesmend_schema = %%%; }", "cannot be unpacked"),
        ("network n { property bayesmend_schema = eJw; }", "cannot be unpacked"),
        ("network n { property other = 1; property note; }", None),
    ],
)
def test_a_broken_property_is_an_error_and_others_are_skipped(text, message):
    rest = "variable a { type discrete [1] { x }; } probability (a) { table 1; }"
    if message is None:
        assert bif.parse(text + rest).schema is None
        return
    with pytest.raises(FormatError, match=message):
        bif.parse(text + rest)


@pytest.mark.parametrize(
    ("plain", "message"),
    [
        ([], "must list its columns"),
        ({"columns": [{"name": "a"}]}, "one of the roles"),
        ({"columns": [3]}, "one of the roles"),
        ({"columns": [], "discretization": 3}, "must map names to cuts"),
        ({"columns": [], "missing": "NA"}, "must be a list of text"),
        ({"columns": [], "missing": [3]}, "must be a list of text"),
    ],
)
def test_a_schema_that_makes_no_sense_is_refused(plain, message):
    with pytest.raises(DataError, match=message):
        Schema.from_dict(plain)


def test_a_broken_schema_in_json_is_placed(network):
    text = json.render(network).replace('"role": "cut"', '"role": "cat"', 1)
    with pytest.raises(FormatError, match="the schema cannot be read"):
        json.parse(text)


# Numbers in questions.


def test_a_number_stands_for_its_interval(network):
    labels = network.schema.discretization.labels("age")
    middle = network.schema.discretization.numbers_of("age").medians[1]
    by_label = bm.query(network, "old", given={"age": labels[1]})
    numbers = (middle, int(middle), np.float64(middle), np.float32(middle))
    others = (np.int16(middle), Decimal(str(middle)))
    for value in (*numbers, *others, str(middle), f" {middle:.3f}"):
        answer = bm.query(network, "old", given={"age": value})
        assert answer.given == {"age": labels[1]}
        assert answer.distributions == by_label.distributions
    with pytest.raises(DataError, match="variable 'age' has no state 'young'"):
        bm.query(network, "old", given={"age": "young"})
    for endless in (Decimal("inf"), Decimal("nan"), float("inf"), 10**400):
        with pytest.raises(DataError, match="variable 'age' has no state"):
            bm.query(network, "old", given={"age": endless})
    with pytest.raises(DataError, match="variable 'age' has no state True"):
        bm.query(network, "old", given={"age": True})
    with pytest.raises(DataError, match="variable 'old' has no state 3"):
        bm.query(network, "age", given={"old": 3})


def test_a_date_stands_for_its_interval():
    rule = bm.data.Discretization(("d",), ((86400.0 * 10,),))
    rule = rule.with_numbers("d", np.array([0.0, 86400.0 * 20]), is_date=True)
    schema = Schema((ColumnRole("d", "cut", "date"),), rule)
    assert schema.interval_of("d", datetime.date(1970, 1, 5)) == "<=1970-01-11"
    assert schema.interval_of("d", "1970-02-05") == ">1970-01-11"
    assert schema.interval_of("d", "soon") is None


# Labels of other types than text, and support.


def typed_table():
    generator = np.random.default_rng(3)
    b = generator.integers(0, 3, 90)
    frame = pd.DataFrame(
        {
            "b": b,
            "g": b > 0,
            "f": np.where(b > 1, 0.5, 1.25),
            "t": np.where(b > 1, "1", "0"),
        }
    )
    hidden = frame.astype(object)
    hidden.loc[generator.random(90) < 0.1, "g"] = None
    return hidden.astype({"b": "int64", "g": "boolean", "f": "float64"})


@pytest.fixture(scope="module")
def typed():
    return bm.learn_em(typed_table(), discretize=None, seed=1).network


@pytest.mark.parametrize("module", FORMATS.values(), ids=FORMATS)
def test_every_format_gives_labels_of_learned_networks_their_types(typed, module):
    assert typed.states == ((0, 1, 2), (False, True), (0.5, 1.25), ("0", "1"))
    assert typed.support is not None
    back = module.parse(module.render(typed))
    assert back == typed  # support, too
    assert all(
        [*map(type, own)] == [*map(type, labels)]
        for own, labels in zip(back.states, typed.states, strict=True)
    )
    asked = bm.query(back, "g", given={"b": 1})
    assert asked.distributions == bm.query(typed, "g", given={"b": 1}).distributions
    assert list(asked.distributions["g"]) == [False, True]
    rows = pd.DataFrame({"b": [0, 2], "t": ["0", "1"]})
    filled = bm.impute(back, rows, allow_absent=True).to_table()
    expected = bm.impute(typed, rows, allow_absent=True).to_table()
    pd.testing.assert_frame_equal(filled, expected)
    assert filled.dtypes["g"] == "boolean"


@pytest.mark.parametrize("module", [bif, xmlbif])
def test_labels_are_text_to_other_readers(typed, module):
    text = module.render(typed)
    kept = [line for line in text.splitlines() if "bayesmend_schema" not in line]
    plain = module.parse("\n".join(kept))
    assert plain.states[:2] == (("0", "1", "2"), ("False", "True"))
    assert plain.states[2:] == (("0.5", "1.25"), ("0", "1"))
    assert plain.schema is None


def test_labels_that_were_renamed_stay_text(typed):
    text = bif.render(typed).replace("False", "off").replace("True", "on")
    back = bif.parse(text)
    assert back.states[1] == ("off", "on")
    assert back.states[0] == (0, 1, 2)


@pytest.mark.parametrize("states", [[], {"b": "01"}, {"b": [None]}, {"b": [[1]]}])
def test_states_in_the_property_that_are_no_labels_are_refused(states):
    plain = js.dumps(Schema(()).to_dict() | {"states": states})
    packed = base64.urlsafe_b64encode(zlib.compress(plain.encode())).decode()
    text = "network n { property bayesmend_schema = " + packed.rstrip("=") + "; }"
    rest = "variable b { type discrete [2] { 0, 1 }; } probability (b) { table 0, 1; }"
    with pytest.raises(FormatError, match="are no labels"):
        bif.parse(text + rest)


def test_labels_that_would_fall_together_stay_text():
    memory = Remembered(Schema(()), {"b": (1, True)})
    dag = bm.Dag.from_arcs(["b"])
    network = bm.Network(dag, (("1", "True"),), ([[0.5, 0.5]],))
    assert memory.given_to(network).states == (("1", "True"),)


@pytest.mark.parametrize("digits", ["", "012", "0", "0101010101"])
def test_support_in_xmlbif_that_does_not_fit_is_refused(typed, digits):
    head, _, tail = xmlbif.render(typed).partition("bayesmend_support = ")
    rest = tail.partition("<")[2]
    with pytest.raises(FormatError, match="digits 0 or 1, one for each number"):
        xmlbif.parse(f"{head}bayesmend_support = {digits}<{rest}")


@pytest.mark.parametrize("module", [xmlbif, graphml])
def test_support_comes_back_in_its_order(module):
    asia = bm.load_network("asia")
    generator = np.random.default_rng(1)
    flags = tuple(generator.random(cpt.shape) < 0.5 for cpt in asia.cpts)
    network = replace(asia, support=flags)
    assert module.parse(module.render(network)) == network
    assert module.parse(module.render(asia)).support is None
