"""What is loaded when, and how long it takes."""

import ast
import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest
from support.timing import processor_seconds

import bayesmend

LOADED = "import sys; {}; import json; print(json.dumps(list(sys.modules)))"


def modules_after(statement):
    run = subprocess.run(
        [sys.executable, "-I", "-c", LOADED.format(statement)],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(json.loads(run.stdout))


def names_for_type_checkers():
    """Where ``__init__.py`` imports names from that are there when asked for."""
    tree = ast.parse(Path(bayesmend.__file__).read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    return {
        alias.name: node.module
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def test_type_checkers_and_programs_find_the_same_names():
    told = names_for_type_checkers()
    assert {*told, "__version__"} == {*bayesmend.__all__}
    for name, home in told.items():
        found = getattr(bayesmend, name)
        if home == "bayesmend":
            assert found is importlib.import_module(f"bayesmend.{name}")
        else:
            assert home == f"bayesmend.{bayesmend._HOMES[name]}"
            assert found is getattr(importlib.import_module(home), name)


def test_every_public_name_is_listed_and_found():
    assert dir(bayesmend) == sorted(bayesmend.__all__)
    for name in bayesmend.__all__:
        assert getattr(bayesmend, name) is not None


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="'bayesmend' has no attribute 'lern'"):
        bayesmend.lern  # noqa: B018
    with pytest.raises(ImportError, match="lern"):
        from bayesmend import lern  # noqa: F401


def test_importing_the_package_loads_no_part_of_it():
    loaded = modules_after("import bayesmend")
    own = {name for name in loaded if name.startswith("bayesmend")}
    assert own == {"bayesmend", "bayesmend._interrupts"}
    assert "numpy" not in loaded


def test_the_list_of_commands_is_shown_without_any_of_them():
    loaded = modules_after("import bayesmend.cli.app")
    own = {name for name in loaded if name.startswith("bayesmend.cli.")}
    assert own == {"bayesmend.cli.app", "bayesmend.cli.declare"}
    assert "numpy" not in loaded


def test_the_package_and_its_help_are_there_in_no_more_time_than_numpy(tmp_path):
    numpy = processor_seconds("-c", "import numpy", folder=tmp_path)
    assert processor_seconds("-c", "import bayesmend", folder=tmp_path) < numpy
    # What starts the command line is Typer, which takes as long as NumPy.
    args = ("-m", "bayesmend", "--help")
    assert processor_seconds(*args, folder=tmp_path) < 2 * numpy


@pytest.mark.slow
def test_all_of_the_package_is_there_in_a_few_times_the_time_of_numpy(tmp_path):
    numpy = processor_seconds("-c", "import numpy", folder=tmp_path)
    everything = "from bayesmend import *"
    assert processor_seconds("-c", everything, folder=tmp_path) < 5 * numpy
