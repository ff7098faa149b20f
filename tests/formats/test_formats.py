"""What every format must do: read back what it wrote, and refuse the rest politely."""

import gzip
import sys
import warnings
from importlib import import_module

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from support.examples import examples
from support.shared import DATA
from support.strategies import LABELS, networks
from support.timing import within

from bayesmend import (
    Dag,
    Network,
    available_networks,
    load_network,
    read_network,
    write_network,
)
from bayesmend.errors import (
    DataError,
    FormatError,
    MissingDependencyError,
    ParameterError,
    ProbabilityWarning,
)

FORMATS = ["bif", "xmlbif", "json", "graphml"]
SUFFIXES = [".bif", ".bif.gz", ".xmlbif", ".xml", ".json", ".json.gz", ".graphml"]

FOLDER = DATA / "networks"
needs_networks = pytest.mark.skipif(
    not FOLDER.is_dir(), reason="no folder of networks; name it in BAYESMEND_DATA"
)

# Variables, arcs and free parameters as published with the networks.
SIZES = {
    "alarm.bif.gz": (37, 46, 509),
    "andes.bif.gz": (223, 338, 1157),
    "asia.bif.gz": (8, 8, 18),
    "barley.bif.gz": (48, 84, 114005),
    "bnrep_engines.bif": (12, 18, 80),
    "bnrep_foodallergy1.bif": (8, 12, 31),
    "cancer.bif.gz": (5, 4, 10),
    "child.bif.gz": (20, 25, 230),
    "diabetes.bif.gz": (413, 602, 429409),
    "earthquake.bif.gz": (5, 4, 10),
    "hailfinder.bif.gz": (56, 66, 2656),
    "insurance.bif.gz": (27, 52, 1008),
    "link.bif.gz": (724, 1125, 14211),
    "lucas.bif": (12, 12, 29),
    "mildew.bif.gz": (35, 46, 540150),
    "munin.bif.gz": (1041, 1397, 80592),
    "munin1.bif.gz": (186, 273, 15622),
    "munin2.bif.gz": (1003, 1244, 69431),
    "munin3.bif.gz": (1041, 1306, 71059),
    "munin4.bif.gz": (1038, 1388, 80352),
    "pathfinder.bif.gz": (109, 195, 72079),
    "pigs.bif.gz": (441, 592, 5618),
    "sachs.bif.gz": (11, 17, 178),
    "surrogate_breast8.bif": (8, 13, 27),
    "surrogate_prostate11_tan.bif": (11, 19, 39),
    "survey.bif.gz": (6, 6, 21),
}


def module(name):
    return import_module(f"bayesmend.formats.{name}")


def with_text_labels(network):
    states = tuple(tuple(str(label) for label in s) for s in network.states)
    return Network(network.dag, states, network.cpts)


def has_distinct_texts(network):
    return all(len({str(x) for x in s}) == len(s) for s in network.states)


TEXT = st.text(st.characters(codec="utf-8"), min_size=1, max_size=5)
XML_TEXT = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc"]) | st.sampled_from("\t\n\r"),
    min_size=1,
    max_size=5,
)


@st.composite
def renamed(draw, names, labels):
    """Networks whose variables and states have names as wild as a format allows."""
    network = draw(networks(labels=labels))
    count = network.n_vars
    wild = draw(st.lists(names, min_size=count, max_size=count, unique=True))
    return Network(Dag(tuple(wild), network.dag.parents), network.states, network.cpts)


def without_noncharacters(text):
    return all(ord(c) not in (0xFFFE, 0xFFFF) for c in text)


@given(renamed(TEXT, TEXT))
def test_any_names_and_labels_survive_bif(network):
    bif = module("bif")
    assert bif.parse(bif.render(network)) == network


@given(
    renamed(
        XML_TEXT.filter(without_noncharacters), XML_TEXT.filter(without_noncharacters)
    )
)
def test_any_names_and_labels_that_xml_allows_survive_xmlbif(network):
    xmlbif = module("xmlbif")
    assert xmlbif.parse(xmlbif.render(network)) == network


@pytest.mark.parametrize("name", ["json", "graphml"])
@given(network=renamed(XML_TEXT.filter(without_noncharacters), LABELS | st.booleans()))
def test_labels_keep_their_types_in_json_and_graphml(name, network):
    found = module(name).parse(module(name).render(network))
    assert found == network
    kinds = [[type(x) for x in labels] for labels in network.states]
    assert [[type(x) for x in labels] for labels in found.states] == kinds


@pytest.mark.parametrize("name", ["bif", "xmlbif"])
@given(network=networks(labels=st.integers(-3, 300)))
def test_numbers_become_text_in_bif_and_xmlbif(name, network):
    found = module(name).parse(module(name).render(network))
    assert found == with_text_labels(network)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_written_file_reads_back_equal(suffix, tmp_path):
    network = load_network("asia")
    path = tmp_path / f"net{suffix}"
    write_network(network, path)
    assert read_network(path) == network
    assert read_network(str(path)) == network
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("name", FORMATS)
def test_254_states_survive(name):
    states = (tuple(f"s{k}" for k in range(254)),)
    cpt = np.random.default_rng(1).dirichlet(np.ones(254), 1)
    network = Network(Dag.from_arcs("a"), states, (cpt,))
    assert module(name).parse(module(name).render(network)) == network


@needs_networks
def test_every_network_of_the_folder_is_known():
    assert {file.name for file in FOLDER.iterdir()} == set(SIZES)


@needs_networks
@pytest.mark.parametrize(
    "file",
    [
        pytest.param(name, marks=[pytest.mark.slow] if size[2] > 70_000 else [])
        for name, size in SIZES.items()
    ],
)
def test_every_network_parses_and_reads_back_equal(file):
    network = read_network(FOLDER / file)
    size = (network.n_vars, network.dag.n_arcs, network.n_parameters)
    assert size == SIZES[file]
    bif = module("bif")
    assert bif.parse(bif.render(network)) == network


@needs_networks
@pytest.mark.parametrize("name", FORMATS[1:])
@pytest.mark.slow
@pytest.mark.parametrize("file", ["alarm.bif.gz", "barley.bif.gz", "munin1.bif.gz"])
def test_large_networks_read_back_equal_in_other_formats(name, file):
    network = read_network(FOLDER / file)
    assert module(name).parse(module(name).render(network)) == network


@needs_networks
def test_munin_is_read_in_less_than_three_seconds():
    with within(3):
        read_network(FOLDER / "munin.bif.gz")


@needs_networks
@pytest.mark.parametrize(
    ("name", "file"), [("asia", "asia.bif.gz"), ("lucas", "lucas.bif")]
)
def test_our_networks_are_the_published_ones(name, file):
    assert load_network(name).is_close(read_network(FOLDER / file), tol=1e-15)


SMALL = Network(
    Dag.from_arcs(["a", "b c"], [(0, 1)]),
    (("n", "y"), ("<1", "2", 'q"')),
    ([[0.25, 0.75]], [[0.5, 0.25, 0.25], [0.1, 0.2, 0.7]]),
)


@st.composite
def mutations(draw, text):
    """Cut, double, swap or change pieces of a text."""
    for _ in range(draw(st.integers(1, 4))):
        a, b = sorted(draw(st.tuples(*[st.integers(0, len(text))] * 2)))
        b = min(b, a + draw(st.sampled_from([1, 3, 20, 1000])))
        piece = text[a:b]
        new = draw(
            st.sampled_from(["", piece * 2, piece[::-1], "{", "}", '"', ";", "\0", "é"])
            | st.sampled_from(
                ["-1", "1e999", "nan", "99", "1_0", "/*", "//", "]", "[["]
            )
            | st.text(max_size=4)
        )
        text = text[:a] + new + text[b:]
    return text


def parse_or_refuse(name, text):
    try:
        return module(name).parse(text)
    except FormatError as error:
        return error


@pytest.mark.parametrize("name", FORMATS)
@given(data=st.data())
@examples(150, suppress_health_check=list(HealthCheck))
def test_a_damaged_file_is_read_or_refused_with_a_position(name, data):
    text = data.draw(mutations(module(name).render(SMALL)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ProbabilityWarning)
        found = parse_or_refuse(name, text)
    assert isinstance(found, Network) or min(found.line, found.column) >= 1


@pytest.mark.parametrize("name", FORMATS)
def test_a_file_cut_anywhere_is_refused(name):
    text = module(name).render(SMALL).rstrip()
    for end in range(len(text)):
        with pytest.raises(FormatError):
            module(name).parse(text[:end])


@pytest.mark.parametrize("suffix", [".bif", ".xmlbif", ".json", ".graphml"])
def test_a_file_that_is_not_utf_8_is_refused(suffix, tmp_path):
    path = tmp_path / f"net{suffix}"
    path.write_bytes(b"network\n a\xff")
    with pytest.raises(FormatError, match=r"line 2, column 3: .*byte 0xff at .* 10\."):
        read_network(path)


def test_a_byte_order_mark_is_skipped(tmp_path):
    path = tmp_path / "net.bif"
    text = module("bif").render(load_network("asia"))
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert read_network(path) == load_network("asia")


@pytest.mark.parametrize(
    "content", [b"not gzip", gzip.compress(b"x" * 999, mtime=0)[:-9]]
)
def test_a_broken_gzip_file_is_refused(content, tmp_path):
    path = tmp_path / "net.bif.gz"
    path.write_bytes(content)
    with pytest.raises(FormatError, match="no complete gzip file"):
        read_network(path)


def test_an_unknown_suffix_lists_the_known_ones(tmp_path):
    with pytest.raises(ParameterError, match=r"no format for .*\.bif, \.xmlbif"):
        write_network(load_network("asia"), tmp_path / "net.doc")


def test_dot_is_written_but_not_read(tmp_path):
    path = tmp_path / "net.dot"
    write_network(load_network("asia"), path)
    assert path.read_text().startswith('digraph {\n  "asia";')
    with pytest.raises(ParameterError, match="DOT holds the graph alone"):
        read_network(path)


@pytest.mark.parametrize(
    ("suffix", "start"), [("svg", b"<svg "), ("png", b"\x89PNG"), ("pdf", b"%PDF")]
)
def test_a_picture_is_written_but_not_read(suffix, start, tmp_path):
    if suffix != "svg":
        pytest.importorskip("matplotlib")
    path = tmp_path / f"net.{suffix}"
    write_network(load_network("asia"), path)
    first = path.read_bytes()
    assert first.startswith(start)
    write_network(load_network("asia"), path)
    assert path.read_bytes() == first
    with pytest.raises(ParameterError, match="cannot be read as a network: it is a pi"):
        read_network(path)


def test_svg_needs_no_package_and_png_says_which(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    network = load_network("asia")
    write_network(network, tmp_path / "net.svg")
    assert all(name in (tmp_path / "net.svg").read_text() for name in network.names)
    with pytest.raises(MissingDependencyError, match=r"install 'bayesmend\[plot\]'"):
        write_network(network, tmp_path / "net.png")
    assert not (tmp_path / "net.png").exists()


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "net.xml"
    path.write_text("old")
    network = Network(Dag.from_arcs("a"), (("\0", "y"),), ([[0.5, 0.5]],))
    with pytest.raises(DataError, match="cannot be written as XML"):
        write_network(network, path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_labels_that_differ_in_type_only_need_json():
    network = Network(Dag.from_arcs("a"), ((1, "1"),), ([[0.5, 0.5]],))
    for name in ("bif", "xmlbif"):
        with pytest.raises(DataError, match="two states of 'a' are both '1' as text"):
            module(name).render(network)
    assert module("json").parse(module("json").render(network)) == network


def test_text_beyond_utf_8_cannot_be_written(tmp_path):
    network = Network(Dag.from_arcs("a"), (("\ud800", "y"),), ([[0.5, 0.5]],))
    with pytest.raises(DataError, match="cannot be written as UTF-8"):
        write_network(network, tmp_path / "net.bif")


def test_an_unknown_network_lists_the_available_ones():
    assert available_networks() == ("asia", "lucas")
    with pytest.raises(ParameterError, match=r"'asai'\. Available: asia, lucas"):
        load_network("asai")
