"""The command line as a whole: help, version, exit codes, one-line errors."""

import signal
import subprocess
import sys
from dataclasses import replace
from inspect import signature
from pathlib import Path

import pytest
import typer
from support.clirunner import fails, ok, run

import bayesmend
import bayesmend.cli.app
from bayesmend._spelling import spell, spelling
from bayesmend.cli.app import app
from bayesmend.data.table import IncompleteData
from bayesmend.graph.constraints import Constraints
from bayesmend.outcome import Stopped

COMMANDS = ["summary", "convert", "sample", "hide", "learn", "structure", "demo"]
COMMANDS += ["impute", "multiple", "query"]


def test_version_is_the_version_of_the_package():
    assert ok("--version") == f"bayesmend {bayesmend.__version__}\n"


@pytest.mark.parametrize("flag", ["--help", "-h"])
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(command, flag):
    text = ok(command, flag)
    assert text.startswith(f"Usage: bayesmend {command}")
    assert f"  {command} " in ok(flag)


def test_the_list_of_commands_says_what_their_help_says():
    folder = Path(bayesmend.cli.app.__file__).parent
    files = {p.stem for p in folder.glob("*.py") if f"\ndef {p.stem}(" in p.read_text()}
    assert {*COMMANDS, "compare"} <= files == {*bayesmend.cli.app.COMMANDS}
    for name, line in bayesmend.cli.app.COMMANDS.items():
        command = typer.main.get_command(app).commands[name]
        assert command.help.splitlines()[0] == line


def test_an_unknown_command_is_a_usage_error():
    assert "No such command 'lern'" in fails(2, "lern")


def test_loading_the_commands_loads_nothing_heavy():
    code = (
        "import sys, typer, bayesmend.cli.app as cli\n"
        "list(typer.main.get_command(cli.app).commands.values())\n"
        "print(*sys.modules)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    loaded = {name.split(".")[0] for name in run.stdout.split()}
    assert not loaded & {"rich", "narwhals", "pandas", "polars", "pyarrow", "networkx"}


def test_without_typer_one_sentence_says_what_to_install():
    code = (
        "import sys; sys.modules['typer'] = None\n"
        "from bayesmend.__main__ import main; main()"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert run.returncode == 1
    assert run.stderr == (
        "Error: the command line needs the package 'typer'. "
        "Install it: pip install 'bayesmend[cli]'\n"
    )


def test_python_m_bayesmend_is_the_same_command():
    run = subprocess.run(
        [sys.executable, "-m", "bayesmend", "--version"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout == f"bayesmend {bayesmend.__version__}\n"


INTERRUPTIBLE = {
    "summary": ["TABLE"],
    "convert": ["asia", "OUT"],
    "sample": ["asia", "--rows", "5", "--out", "OUT"],
    "hide": ["TABLE", "--mcar", "0.1", "--out", "OUT"],
    "learn": ["TABLE", "--out", "OUT"],
    "structure": ["TABLE", "--out", "OUT"],
    "demo": ["--out", "OUT"],
    "impute": ["asia", "TABLE", "--out", "OUT"],
    "multiple": ["TABLE", "--out", "OUT"],
    "query": ["asia"],
}


def interrupt(*args, **options):
    signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize("command", COMMANDS)
def test_ctrl_c_ends_with_one_line_and_130(command, monkeypatch, table, tmp_path):
    out = tmp_path / ("out.csv" if command in ("sample", "hide", "impute") else "out")
    if command == "convert":
        out = tmp_path / "out.json"
    # Every command reads a table or a network first.
    monkeypatch.setattr("bayesmend.cli.options.load_network", interrupt)
    monkeypatch.setattr("bayesmend.cli.demo.load_truth", interrupt)
    # The last: commands look at its defaults when they are loaded.
    monkeypatch.setattr(IncompleteData, "from_table", interrupt)
    places = {"TABLE": table, "OUT": out}
    result = run(command, *(places.get(a, a) for a in INTERRUPTIBLE[command]))
    assert (result.exit_code, result.stderr) == (130, "Interrupted.\n")
    assert result.stdout == ""
    assert not out.exists()


@pytest.mark.parametrize("command", ["learn", "structure", "demo"])
def test_ctrl_c_in_a_search_writes_the_best_so_far_and_ends_with_130(
    command, monkeypatch, asia, tmp_path
):
    search = "learn_structure" if command == "structure" else "learn"
    place = (
        "bayesmend.cli.learn.run"
        if command == "learn"
        else (f"bayesmend.cli.{command}.{search}")
    )

    def interrupted(*args, **options):
        found = getattr(bayesmend, search)(*args, **options)
        return replace(found, stopped=Stopped.INTERRUPT)

    monkeypatch.setattr(place, interrupted)
    out = tmp_path / "out"
    table = [asia] if command != "demo" else []
    result = run(command, *table, "--out", out)
    assert result.exit_code == 130
    assert result.stderr.endswith("Interrupted: this is the best answer so far.\n")
    assert (out / "network.bif").exists()
    assert str(out / "network.bif") in result.stdout


def test_an_unexpected_error_is_one_line_without_traceback(monkeypatch, table):
    def broken(*args, **options):
        raise RuntimeError("first\nsecond")

    monkeypatch.setattr(IncompleteData, "from_table", broken)
    assert fails(1, "summary", table) == (
        "Error: unexpected RuntimeError: first second. See where with --debug."
    )


def test_lack_of_memory_is_reported(monkeypatch, table):
    def broken(*args, **options):
        raise MemoryError

    monkeypatch.setattr(IncompleteData, "from_table", broken)
    assert fails(1, "summary", table) == (
        "Error: not enough memory for this table or network."
    )


@pytest.mark.parametrize(
    "args", [("--debug", "summary", "no.csv"), ("summary", "no.csv", "--debug")]
)
def test_debug_shows_the_traceback(args):
    result = run(*args)
    assert result.exit_code == 1
    assert "Traceback (most recent call last)" in result.stderr


def test_a_full_disk_is_reported(monkeypatch, table):
    def full(*args, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(IncompleteData, "from_table", full)
    assert fails(1, "summary", table) == (
        "Error: reading or writing: No space left on device."
    )


def test_a_reader_that_goes_away_ends_the_command_in_silence():
    args = [sys.executable, "-m", "bayesmend", "sample", "asia", "--rows", "100000"]
    with subprocess.Popen(
        args, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode in (0, 1)


# --- options ------------------------------------------------------------------------

LIBRARY = {
    "learn": bayesmend.learn,
    "structure": bayesmend.learn_structure,
    "impute": bayesmend.impute,
    "multiple": bayesmend.impute_multiple,
    "query": bayesmend.query,
}
# Parameters of what reads a table and of what holds arcs, and options of the terminal.
OTHERS = {*signature(IncompleteData.from_table).parameters}
OTHERS |= {*signature(Constraints).parameters}
OTHERS |= {"file", "net", "out", "cells", "json", "force", "debug", "safe_csv"}
OTHERS |= {"open_report"}
OTHERS |= {"client"}  # of impute_files
OTHERS |= {"model", "pass_through", "drop"}  # each a value of columns=


@pytest.mark.parametrize("command", LIBRARY)
def test_options_are_the_parameters_of_the_library_with_its_defaults(command):
    parameters = signature(LIBRARY[command]).parameters
    for option in typer.main.get_command(app).commands[command].params:
        if option.name in parameters:
            assert option.default in (parameters[option.name].default, None)
        else:
            assert option.name in OTHERS


_TWO_CUTS = "--discretize 'a b=none' --discretize c=1,2"


@pytest.mark.parametrize(
    ("parameter", "spelled"),
    [
        (("n_samples",), "--samples"),
        (("n_draws", 3), "--draws 3"),
        (("max_memory", 1e5), "--max-memory 1e+05"),
        (("allow_absent", True), "--allow-absent"),
        (("discretize", {"age": 4}), "--discretize age=4"),
        (("discretize", {"age": ...}), "--discretize age=HOW"),
        (("max_columns", 7), "max_columns=7"),
        (("net", "asia"), "net='asia'"),
        (("header", True), "--header"),
        (("header", False), "--no-header"),
        (("delimiter", "\t"), "--delimiter tab"),
        (("missing", ["-9", "n a"]), "--missing -9 --missing 'n a'"),
        (("missing", ["", "?"]), "--missing '' --missing '?'"),
        (("delimiter", ";"), "--delimiter ';'"),
        (("discretize", {"a b": None, "c": [1, 2]}), _TWO_CUTS),
        (("columns", {"id": "drop"}), "columns={'id': 'drop'}"),
    ],
)
def test_a_command_spells_parameters_as_its_options(parameter, spelled):
    command = typer.main.get_command(app).commands["impute"]
    with spelling(command.spell):
        assert spell(*parameter) == spelled


def test_nothing_in_the_library_names_an_option():
    package = Path(bayesmend.__file__).parent
    sources = [path for path in package.rglob("*.py") if path.parent.name != "cli"]
    options = {
        option
        for command in typer.main.get_command(app).commands.values()
        for parameter in command.params
        for option in parameter.opts
        if option.startswith("--")
    }
    assert "--max-memory" in options
    named = [
        (path.name, option)
        for path in sources
        for option in options - {"--inference"}  # the example of spelling
        if option in path.read_text(encoding="utf-8")
    ]
    assert not named


@pytest.mark.parametrize(
    ("parameter", "spelled"),
    [
        (("columns",), "--model, --pass-through or --drop"),
        (("columns", {"id": "drop"}), "--drop id"),
        (("columns", {"a": "model", "b c": "model"}), "--model 'a,b c'"),
        (
            ("columns", {"a": "model", "b": "pass-through"}),
            "--model a --pass-through b",
        ),
        (("normalise", True), "--normalise"),
        (("weights", "w"), "--weights w"),
    ],
)
def test_what_columns_are_is_spelled_as_options(parameter, spelled):
    command = typer.main.get_command(app).commands["summary"]
    with spelling(command.spell):
        assert spell(*parameter) == spelled
