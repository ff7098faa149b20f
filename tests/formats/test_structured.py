"""XMLBIF, JSON and GraphML: forms in use, and where errors point."""

import json
import re
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

from bayesmend import load_network
from bayesmend.errors import FormatError
from bayesmend.formats import graphml, xmlbif
from bayesmend.formats import json as own

XML = """<?xml version="1.0"?>
<!-- Bayes net -->
<!DOCTYPE BIF [ <!ELEMENT BIF ( NETWORK )*> ]>
<BIF VERSION="0.3">
<NETWORK>
<NAME>dog</NAME>
<VARIABLE TYPE="nature">
  <NAME>light-on</NAME><OUTCOME> true </OUTCOME><OUTCOME>false</OUTCOME>
  <PROPERTY>position = (218, 195)</PROPERTY>
</VARIABLE>
<VARIABLE TYPE="nature">
  <NAME>out</NAME><OUTCOME>a</OUTCOME><OUTCOME>b</OUTCOME><OUTCOME>c</OUTCOME>
</VARIABLE>
<VARIABLE><NAME>up</NAME><OUTCOME>0</OUTCOME><OUTCOME>1</OUTCOME></VARIABLE>
<DEFINITION><FOR>out</FOR><TABLE>0.15 0.85 <!-- zero --> 0</TABLE></DEFINITION>
<DEFINITION><FOR>up</FOR><TABLE>1 0</TABLE></DEFINITION>
<DEFINITION>
  <FOR>light-on</FOR><GIVEN>up</GIVEN><GIVEN>out</GIVEN>
  <TABLE>
    0.1 0.9  0.2 0.8  0.3 0.7
    0.4 0.6  0.5 0.5  0.6 0.4
  </TABLE>
</DEFINITION>
</NETWORK>
</BIF>
"""


def test_a_table_of_xmlbif_has_the_child_fastest_then_the_last_parent():
    network = xmlbif.parse(XML)
    assert network.names == ("light-on", "out", "up")
    assert network.states[0] == ("true", "false")
    assert network.dag.parents[0] == (1, 2)
    assert network.cpts[0][:, 0].tolist() == [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]


@pytest.mark.parametrize(
    ("old", "new", "line", "problem"),
    [
        ("</BIF>", "", 26, "not valid XML: no element found"),
        ("<BIF ", "<BOF ", 25, "not valid XML: mismatched tag"),
        ("BIF", "BOF", 4, "expected one <NETWORK> inside <BIF>"),
        ("<NAME>up", "<NAME>out", 14, "variable 'out' is declared twice"),
        ("<NAME>up</NAME>", "", 14, "expected one <NAME> here. Got 0"),
        ('"nature">\n  <NAME>out', '"utility">\n  <NAME>out', 11, "of type 'nature'"),
        ("<OUTCOME>1<", "<OUTCOME>0<", 14, "must differ. Got '0' twice"),
        ("<FOR>up", "<FOR>down", 16, "no variable named 'down'"),
        ("<FOR>up", "<FOR>out", 16, "variable 'out' has a second table"),
        ("<TABLE>1 0", "<TABLE>1 x", 16, "expected a number >= 0. Got 'x'"),
        ("<TABLE>1 0", "<TABLE>1", 16, "expected 2 probabilities. Got 1"),
        ("<TABLE>1 0", "<TABLE>0 0", 16, "sums to 0.0 instead of 1"),
        ("<GIVEN>up", "<GIVEN>light-on", 18, "occurs twice in this family"),
        ("<!ELEMENT", "<!ENTITY x 'y'> <!ELEMENT", 3, "declares an entity ('x')"),
    ],
)
def test_an_error_of_xmlbif_points_at_its_line(old, new, line, problem):
    assert old in XML
    with pytest.raises(FormatError) as caught:
        xmlbif.parse(XML.replace(old, new))
    assert problem in caught.value.problem
    assert caught.value.line == line


def test_columns_count_characters_not_bytes():
    text = "<BIF><NETWORK><VARIABLE><NAME>é</NAME></VARIABLE><x></NETWORK></BIF>"
    with pytest.raises(FormatError) as caught:
        xmlbif.parse(text)
    assert caught.value.column == text.index("</NETWORK>") + 3


def test_deep_nesting_is_refused():
    with pytest.raises(FormatError, match="nested more than 100 deep"):
        xmlbif.parse("<a>" * 100_000)
    with pytest.raises(FormatError, match="too deeply nested"):
        own.parse("[" * 100_000)


def asia():
    return json.loads(own.render(load_network("asia")))


def changed(change):
    document = asia()
    change(document, document["variables"])
    return json.dumps(document, indent=1)


@pytest.mark.parametrize(
    ("change", "at", "problem"),
    [
        (lambda d, v: d.update(format="x"), '"x"', "format must be 'bayesmend-netw"),
        (lambda d, v: d.update(version=2), "2,", "version must be 1. Got 2"),
        (lambda d, v: d.update(variables={}), "{}", "variables must be a list"),
        (lambda d, v: v.append(7), "7", "a variable must be an object"),
        (lambda d, v: v[1].update(name=8), "8", "have a name, which is text"),
        (lambda d, v: v[1].update(states="no"), '"no"\n?,', "states must be a list"),
        (
            lambda d, v: v[1].update(states=[None]),
            r"\[\s*null",
            "states must be a list",
        ),
        (lambda d, v: v[1].update(parents="x"), '"x"', "parents must be a list of"),
        (
            lambda d, v: v[1].update(cpt=[]),
            r"\[\]\s*\}",
            "cpt must be a list of 2 rows",
        ),
        (lambda d, v: v[1]["cpt"].pop(), r"\[\s*\[\s*0.05", "cpt must be a list of 2"),
        (lambda d, v: v[0].update(cpt=[[True, 0]]), r"\[\s*\[\s*true", "numbers >= 0"),
        (lambda d, v: v[0].update(cpt=[[2, -1]]), r"\[\s*\[\s*2", "numbers >= 0"),
        (lambda d, v: v[0].update(cpt=[[10**400, 0]]), r"\[\s*\[\s*10", "numbers >= 0"),
        (lambda d, v: v.append(v[0]), "", "variable 'asia' is declared twice"),
        (lambda d, v: v[1].update(parents=["x"]), "", "no variable named 'x'"),
    ],
)
def test_an_error_of_json_points_at_the_value(change, at, problem):
    text = changed(change)
    with pytest.raises(FormatError) as caught:
        own.parse(text)
    assert problem in caught.value.problem
    lines = text.split("\n")
    offset = sum(len(x) + 1 for x in lines[: caught.value.line - 1])
    assert re.match(at, text[offset + caught.value.column - 1 :])


def test_json_that_is_no_json_is_refused_at_its_place():
    with pytest.raises(
        FormatError, match="line 2, column 3: not valid JSON: Expecting"
    ):
        own.parse('{"format":\n  x}')


def test_other_keys_of_json_are_ignored():
    text = changed(lambda d, v: (d.update(note=[{}]), v[0].update(unit="m")))
    assert own.parse(f"\n {text}\n") == load_network("asia")


def test_networkx_reads_our_graphml(tmp_path):
    path = tmp_path / "asia.graphml"
    path.write_text(graphml.render(load_network("asia")))
    graph = nx.read_graphml(path)
    assert set(graph.edges) == set(load_network("asia").dag.arcs)
    assert json.loads(graph.nodes["lung"]["states"]) == ["yes", "no"]


def test_graphml_written_by_networkx_from_ours_reads_back(tmp_path):
    path = tmp_path / "asia.graphml"
    path.write_text(graphml.render(load_network("asia")))
    graph = nx.read_graphml(path)
    text = "\n".join(nx.generate_graphml(graph))
    assert graphml.parse(text).is_close(load_network("asia"))


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("<graph ", "<grape ", "not valid XML"),
        ('<data key="cpt">[[0.5, 0.5]]</data>', "", "node 'smoke' has no 'cpt'"),
        ("[[0.5, 0.5]]", "[[0.5, 0.5]", "expected JSON in this <data>"),
        ("[[0.5, 0.5]]", "[[0.5]]", "cpt must be a list of 1 rows of 2"),
        ('source="smoke"', 'source="asia"', "'asia' -> 'lung' is not among the par"),
        ('<edge source="asia" target="tub"/>', "", "a parent of 'tub', but has no e"),
    ],
)
def test_an_error_of_graphml_says_what_is_wrong(old, new, problem):
    text = graphml.render(load_network("asia"))
    assert old in text
    with pytest.raises(FormatError) as caught:
        graphml.parse(text.replace(old, new, 1))
    assert problem in caught.value.problem


def with_support(network):
    """Every second cell of every table has an example."""
    flags = [np.arange(cpt.size).reshape(cpt.shape) % 2 == 0 for cpt in network.cpts]
    return replace(network, support=tuple(flags))


def test_json_keeps_the_support_of_a_network():
    network = with_support(load_network("asia"))
    found = own.parse(own.render(network))
    assert found == network
    assert found != load_network("asia")
    assert all(map(np.array_equal, found.support, network.support))
    assert own.parse(own.render(load_network("asia"))).support is None


def test_support_in_json_goes_with_parents_in_any_order():
    network = with_support(load_network("asia"))
    document = json.loads(own.render(network))
    either = next(v for v in document["variables"] if len(v["parents"]) == 2)
    either["parents"].reverse()
    for key in ("cpt", "support"):
        rows = either[key]
        either[key] = [rows[0], rows[2], rows[1], rows[3]]
    assert own.parse(json.dumps(document)) == network


def test_support_of_another_shape_is_refused():
    document = json.loads(own.render(with_support(load_network("asia"))))
    document["variables"][0]["support"] = [[1, 2]]
    with pytest.raises(FormatError, match="support must be a list of 1 rows of 2 0 or"):
        own.parse(json.dumps(document))
