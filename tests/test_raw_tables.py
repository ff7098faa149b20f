"""Raw files as people have them: in they go, and whole they come back."""

import csv

import pytest
from support.clirunner import run
from support.shared import DATA

import bayesmend as bm
from bayesmend.data.states import MISSING_MARKERS
from bayesmend.errors import ReadingWarning

RAW = DATA / "raw"
# File, delimiter (None: runs of blanks) and whether its first line names the columns.
FILES = [
    pytest.param("titanic.csv", ",", True, marks=pytest.mark.slow),
    ("penguins.csv", ",", True),
    pytest.param("hepatitis.data", ",", True, marks=pytest.mark.slow),
    ("processed.cleveland.data", ",", True),
    pytest.param("horse-colic.data", None, False, marks=pytest.mark.slow),
    pytest.param("nhanes_2166.csv", ",", True, marks=pytest.mark.slow),
]
pytestmark = pytest.mark.skipif(
    not RAW.is_dir(), reason=f"the raw tables are not in {RAW}"
)


def fields_of(path, delimiter, has_header):
    """Read a file in the plainest way: its names and its rows of text."""
    with path.open(newline="") as file:
        rows = (
            [line.split() for line in file]
            if delimiter is None
            else list(csv.reader(file, delimiter=delimiter))
        )
    return (rows[0], rows[1:]) if has_header else (None, rows)


def is_missing(text):
    return text.strip() in MISSING_MARKERS


def assert_mended(before, after, names, modelled):
    """Check that observed fields are as they were, and modelled ones filled."""
    assert len(after) == len(before)
    for row, (old, new) in enumerate(zip(before, after, strict=True)):
        for name, was, now in zip(names, old, new, strict=True):
            if not is_missing(was) or name not in modelled:
                assert now == was, (row, name)
            else:
                assert not is_missing(now), (row, name)


@pytest.mark.parametrize(("name", "delimiter", "has_header"), FILES)
def test_a_raw_file_is_described_learned_from_and_mended(
    name, delimiter, has_header, tmp_path
):
    path = RAW / name
    described = run("summary", path)
    assert described.exit_code == 0, described.stderr
    learned = run("learn", path, "--out", tmp_path / "out", "--seed", 1)
    assert learned.exit_code == 0, learned.stderr
    headers, before = fields_of(path, delimiter, has_header)
    names, after = fields_of(tmp_path / "out" / "completed.csv", ",", True)
    if headers is not None:
        assert names == headers
    network = bm.read_network(tmp_path / "out" / "network.bif")
    assert set(network.names) <= set(names)
    assert_mended(before, after, names, set(network.names))
    again = tmp_path / "again.csv"
    imputed = run("impute", tmp_path / "out" / "network.bif", path, "--out", again)
    assert imputed.exit_code == 0, imputed.stderr
    _, after = fields_of(again, ",", True)
    assert_mended(before, after, names, set(network.names))


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize(
    "name", [pytest.param("titanic.csv", marks=pytest.mark.slow), "penguins.csv"]
)
def test_a_frame_of_a_raw_file_comes_back_with_its_types(name, library):
    read = pytest.importorskip(library).read_csv
    frame = read(RAW / name)
    with pytest.warns(ReadingWarning):
        result = bm.learn(frame, seed=1)
    mended = result.completed.to_table()
    assert list(mended.columns) == list(frame.columns)
    assert list(mended.dtypes) == list(frame.dtypes)
    for column in frame.columns:
        before, after = frame[column].to_list(), mended[column].to_list()
        for was, now in zip(before, after, strict=True):
            is_null = was is None or was != was
            assert now == was or is_null
            if is_null and column in result.network.names:
                assert now is not None
                assert now == now
