"""The pages of results in the documentation say what the experiments say today."""

import re

import pytest
from support.shared import ROOT

from experiments.catalog import NAMES, load_experiment

PAGES = ROOT / "docs" / "explanation" / "results"


@pytest.mark.parametrize("name", NAMES)
def test_titles_methods_and_notes_are_those_of_the_experiment(name):
    page = (PAGES / f"{name}.md").read_text()
    limit = re.search(r" has (\d+) s a run instead of", page)
    experiment = load_experiment(name, time_limit=limit and float(limit[1]))
    assert page.startswith(f"# {experiment.title}\n")
    assert [note for note in experiment.notes if f"\n- {note}\n" not in page] == []
    if experiment.curves is None:
        labels = {method.label for method in experiment.methods}
        rows = re.findall(r"^\|[^|]*\| ([^|]+) \|.* to .*\|$", page, re.MULTILINE)
        assert set(rows) <= labels
