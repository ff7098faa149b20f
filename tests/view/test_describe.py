"""What the scripts of a page are given, and the scripts."""

import base64
import json
import re
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import bayesmend as bm
from bayesmend.view import ArcNote, VariableNote, describe, script
from bayesmend.view.packed import as_json
from bayesmend.view.scripts import read

FOLDER = Path(bm.__file__).parent / "view"
MODULES = sorted(path.stem for path in FOLDER.glob("*.js"))


def unpacked(text, kind):
    return np.frombuffer(base64.b64decode(text), f"<{kind}")


def test_a_network_is_told_whole():
    network = bm.load_network("asia")
    data = describe(network)
    json.dumps(data, allow_nan=False)
    assert data["names"] == list(network.names)
    assert data["parents"] == [list(members) for members in network.dag.parents]
    at = 0
    values = unpacked(data["cpts"], "f8")
    for cpt in network.cpts:
        assert np.array_equal(values[at : at + cpt.size], cpt.ravel())
        at += cpt.size
    assert at == len(values)
    told = {(arc["parent"], arc["child"]) for arc in data["arcs"]}
    assert len(told) == len(data["arcs"]) == network.dag.n_arcs
    either = {(a["parent"], a["child"]) for a in data["arcs"] if a["either"]}
    assert told - either == set(network.dag.cpdag().directed)


def test_boxes_do_not_overlap_and_arcs_lead_down():
    drawing = describe(bm.load_network("lucas"))["drawing"]
    boxes = sorted(zip(drawing["y"], drawing["x"], drawing["widths"], strict=True))
    for (y0, x0, w0), (y1, x1, w1) in pairwise(boxes):
        assert y0 != y1 or x1 - x0 >= (w0 + w1) / 2
    assert all(x + w / 2 <= drawing["width"] for _, x, w in boxes)
    assert boxes[-1][0] + drawing["boxHeight"] <= drawing["height"]


def test_notes_go_to_their_variables_and_arcs():
    network = bm.load_network("asia")
    arc = (network.names[0], network.names[1])
    data = describe(
        network,
        variables={"tub": VariableNote([90, 8], [2, 0], [1, 98], is_alarm=True)},
        arcs={arc: ArcNote(gain=1.25, either=0.5)},
    )
    note = data["notes"][network.names.index("tub")]
    assert (note["observed"], note["mended"], note["alarm"]) == ([90, 8], [2, 0], True)
    assert unpacked(note["rows"], "i4").tolist() == [1, 98]
    assert sum(n is not None for n in data["notes"]) == 1
    assert [a["note"] for a in data["arcs"] if "note" in a] == [
        {"gain": 1.25, "either": 0.5}
    ]


def test_labels_stay_labels_in_json():
    text = as_json({"name": "</script><script>alert(1)</script>", "n": 0.1})
    assert "<" not in text
    assert json.loads(text)["name"].startswith("</script>")
    with pytest.raises(ValueError, match="not JSON compliant"):
        as_json(float("inf"))


def test_of_a_table_too_large_to_compute_with_the_first_rows_are_told():
    names, n_states = ("a", "b", "c"), 70
    dag = bm.Dag.from_arcs(names, [("a", "c"), ("b", "c")])
    even = np.full((1, n_states), 1 / n_states)
    cpts = (even, even, np.repeat(even, n_states**2, axis=0))
    network = bm.Network(dag, [tuple(range(n_states))] * 3, cpts)
    note = VariableNote([], [], np.ones(n_states**2))
    data = describe(network, variables={"c": note})
    assert len(unpacked(data["cpts"], "f8")) == 2 * n_states + 200 * n_states
    assert len(unpacked(data["notes"][2]["rows"], "i4")) == 200


# --- scripts --------------------------------------------------------------------------


def test_every_module_can_be_part_of_one():
    text = script(MODULES)
    assert not re.search(r"^\s*(import|export)\b", text, re.MULTILINE)
    for name in MODULES:
        assert text.count(read(f"{name}.js").splitlines()[0]) == 1


def test_names_at_top_level_are_unique_over_all_modules():
    declared = re.compile(r"^(?:async )?(?:function\*?|class|const|let) (\w+)", re.M)
    names = Counter(declared.findall(script(MODULES)))
    assert names["Session"] == 1
    assert not [name for name, n in names.items() if n > 1]


def test_scripts_make_no_markup_of_text():
    text = script(MODULES)
    for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write"):
        assert way not in text
    assert not re.search(r"\beval\(|new Function|setAttribute\(\"style\"", text)


def test_a_module_comes_after_those_that_it_imports():
    text = script(["network"], exports=["mount"])
    assert text.index("class TooWide") < text.index("class Session")
    assert text.index("class Session") < text.index("class NetworkView")
    assert text.endswith("export { mount };\n")
