"""Warnings name the line that called the package."""

import re
import warnings
from pathlib import Path

import pytest

import bayesmend as bm
from bayesmend.errors import BayesmendWarning

SOURCES = Path(bm.__file__).parent.rglob("*.py")
ASIA = bm.load_network("asia")
BADLY_SUMMED = """
variable a { type discrete [ 2 ] { no, yes }; }
probability ( a ) { table 0.5, 0.6; }
"""


def hide_too_many():
    bm.hiding.hide_value_per_variable(ASIA.sample(20, seed=1), 19, state=1, seed=1)


def cut_too_often():
    bm.IncompleteData.from_table({"a": [1, 1, 1, 2]}, discretize={"a": 4})


def fit_too_briefly():
    data = bm.hide_mcar(ASIA.sample(100, seed=1), 0.3, seed=1).data
    bm.fit_parameters(ASIA.dag, data, max_iter=1)


def draw_too_few():
    options = {"inference": "weighting", "n_samples": 2, "seed": 1}
    rows = {name: [None] for name in ASIA.names}
    bm.impute(ASIA, {**rows, "xray": ["yes"]}, method="draw", n_draws=9, **options)


CALLS = [hide_too_many, cut_too_often, fit_too_briefly, draw_too_few]


@pytest.mark.parametrize("call", CALLS)
def test_a_warning_names_the_callers_line(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    places = {w.filename for w in caught if issubclass(w.category, BayesmendWarning)}
    assert places == {__file__}


def test_reading_a_file_warns_at_the_callers_line(tmp_path):
    path = tmp_path / "net.bif"
    path.write_text(BADLY_SUMMED)
    with pytest.warns(bm.errors.ProbabilityWarning) as caught:
        bm.read_network(path)
    assert [w.filename for w in caught] == [__file__]


def test_structural_em_warns_at_the_callers_line():
    data = bm.hide_mcar(ASIA.sample(100, seed=1), 0.3, seed=1).data
    with pytest.warns(bm.errors.ConvergenceWarning) as caught:
        bm.learn_em(data, seed=1, max_iter=1, restarts=0)
    assert {w.filename for w in caught} == {__file__}


def test_nothing_warns_past_the_helper():
    plain = re.compile(r"\bwarnings\.warn\(")
    found = [path.name for path in SOURCES if plain.search(path.read_text())]
    assert found == ["_warn.py"]
