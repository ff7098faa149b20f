"""The tables that come with the package, and the truth about their empty fields."""

import csv

import pytest

from bayesmend.data.table import IncompleteData
from bayesmend.datasets import available_tables, load_truth, table_path
from bayesmend.datasets.patients import main, make_patients
from bayesmend.errors import ParameterError

TABLE = table_path("patients")


def test_the_files_are_what_the_program_makes(tmp_path):
    main(tmp_path)
    for file in tmp_path.iterdir():
        assert file.read_text() == TABLE.with_name(file.name).read_text()
    assert len([*tmp_path.iterdir()]) == 2


def test_the_truth_fills_the_empty_fields_of_the_columns_it_names():
    with TABLE.open(newline="") as file:
        rows = [*csv.DictReader(file)]
    for name, held in load_truth("patients").items():
        assert {k for k, row in enumerate(rows) if row[name] == ""} == held.keys()
        assert "" not in held.values()


def test_smokers_are_silent_and_a_visit_measured_no_cholesterol():
    complete, _, hidden = make_patients(4000, seed=7)
    shares = {}
    for answer in ("never", "current"):
        gave = [k for k, other in enumerate(complete["smoking"]) if other == answer]
        shares[answer] = hidden["smoking"][gave].mean()
    assert shares["current"] > 5 * shares["never"]
    second = [visit == "second" for visit in complete["visit"]]
    assert hidden["cholesterol"].tolist() == second


@pytest.mark.filterwarnings("ignore::bayesmend.errors.ReadingWarning")
def test_the_table_is_read_as_a_user_would_hope():
    data = IncompleteData.from_table(TABLE)
    roles = {column.name: column.role for column in data.schema.columns}
    passed = {name for name, role in roles.items() if role == "pass-through"}
    assert passed == {"patient", "date", "remarks"}
    assert set(data.discretization.names) == {
        *("age", "monoxide", "bmi", "systolic", "cholesterol")
    }


@pytest.mark.parametrize("ask", [table_path, load_truth])
def test_a_table_that_is_not_there_is_an_error(ask):
    with pytest.raises(ParameterError, match="no table named 'people'"):
        ask("people")
    assert available_tables() == ("patients",)
