"""The traits of a view, without a browser: what it is told and what it tells."""

import json
import subprocess
import sys

import pytest

import bayesmend as bm
from bayesmend.errors import DataError, ParameterError, UnknownParameterError
from bayesmend.notebook import NetworkView


@pytest.fixture(scope="module")
def asia():
    return bm.load_network("asia")


def test_what_is_set_here_is_told_in_positions(asia):
    view = NetworkView(asia, evidence={"xray": "no", "asia": "yes"}, selected="tub")
    place = asia.names.index
    assert view._known == [[place("asia"), 0], [place("xray"), 1]]
    assert view._chosen == place("tub")
    view.evidence, view.selected = {}, None
    assert (view._known, view._chosen) == ([], None)


def test_what_is_clicked_there_is_told_in_labels(asia):
    view = NetworkView(asia)
    seen = []
    view.observe(lambda change: seen.append(change["new"]), ["evidence", "selected"])
    view.set_state({"_known": [[2, 0]], "_chosen": 3})
    assert (view.evidence, view.selected) == ({"smoke": "yes"}, "lung")
    assert seen == [{"smoke": "yes"}, "lung"]


def test_states_that_look_alike_are_told_apart():
    network = bm.Network(
        bm.Dag.from_arcs(["a"]), ((1, "1", "\x00", "\x01"),), ([[0.1, 0.2, 0.3, 0.4]],)
    )
    view = NetworkView(network)
    for k, label in enumerate(network.states[0]):
        view.set_state({"_known": [[0, k]]})
        assert view.evidence == {"a": label}
        assert type(view.evidence["a"]) is type(label)


def test_a_result_is_shown_by_its_network(asia):
    data = bm.hide_mcar(asia.sample(100, seed=1), 0.1, seed=1).data
    result = bm.learn_em(data, seed=1)
    view = NetworkView(result)
    assert view.network is result.network
    assert view._network["names"] == [*data.names]
    notes = view._network["notes"]
    assert sum(map(sum, (note["mended"] for note in notes))) == data.n_missing
    assert sum(map(sum, (note["observed"] for note in notes))) == (
        data.n_rows * data.n_vars - data.n_missing
    )
    assert NetworkView(result.network)._network["notes"][0] is None


def test_a_number_is_the_interval_it_lies_in():
    table = {"x": [float(k) for k in range(100)], "y": list("ab") * 50}
    network = bm.learn(table, discretize={"x": 2}, seed=1).network
    view = NetworkView(network, evidence={"x": 3.0})
    assert view.evidence == {"x": network.states[0][0]}


@pytest.mark.parametrize(
    ("name", "value", "error", "said"),
    [
        ("evidence", {"smoke": "maybe"}, DataError, "'smoke' has no state 'maybe'"),
        ("evidence", {"smok": "yes"}, DataError, "no variable named 'smok'"),
        ("evidence", ["smoke"], ParameterError, "given must map names"),
        ("selected", "lun", DataError, "no variable named 'lun'"),
        ("selected", 3, ParameterError, "selected must be the name of a variable"),
    ],
)
def test_what_does_not_fit_is_refused_and_changes_nothing(
    asia, name, value, error, said
):
    view = NetworkView(asia, evidence={"smoke": "yes"}, selected="lung")
    with pytest.raises(error, match=said):
        setattr(view, name, value)
    assert (view.evidence, view.selected) == ({"smoke": "yes"}, "lung")
    with pytest.raises(error, match=said):
        NetworkView(asia, **{name: value})


def test_only_networks_are_shown(asia):
    with pytest.raises(ParameterError, match="network must be a Network"):
        NetworkView(asia.dag)
    with pytest.raises(UnknownParameterError, match="Did you mean evidence"):
        NetworkView(asia, evidenc={})


def test_a_terminal_shows_it_as_a_line(asia):
    view = NetworkView(asia, evidence={"smoke": "yes"}, selected="lung")
    assert repr(view) == (
        "NetworkView(8 variables, evidence={'smoke': 'yes'}, selected='lung')"
    )


def test_what_the_page_is_given_is_plain(asia):
    view = NetworkView(asia)
    json.dumps(view.get_state(["_network", "_known", "_chosen", "_command"]))
    assert view._esm.count("import ") == 0
    assert "export default { render };" in view._esm


def test_a_page_without_widgets_has_a_picture(asia):
    view = NetworkView(asia)
    data, _ = view._repr_mimebundle_()
    assert data["application/vnd.jupyter.widget-view+json"]["model_id"] == view.model_id
    assert data["text/html"].count("<rect") == 8
    assert data["text/plain"] == repr(view)


WITHOUT = """
import sys
sys.modules["anywidget"] = None
import bayesmend.notebook
from bayesmend.errors import MissingDependencyError
try:
    bayesmend.notebook.NetworkView
except MissingDependencyError as error:
    print(error)
"""


def test_without_the_extra_it_says_how_to_install_it():
    run = subprocess.run(
        [sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == (
        "anywidget is not installed. Install it with: pip install 'bayesmend[notebook]'"
    )
