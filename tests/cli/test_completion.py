"""Completion: scripts that the shells themselves run here."""

import shutil
import subprocess

import pytest
import typer
from support.clirunner import fails, ok

from bayesmend.cli.app import COMMANDS, app
from bayesmend.learning import METHODS

BASH = """\
source {script}
COMP_WORDS=({words} {last!r}); COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 ))
_bayesmend && printf '%s\\n' "${{COMPREPLY[@]}}"
"""


def shell(name):
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"there is no {name}")
    return found


@pytest.fixture(params=["bash", "fish"])
def complete(request, tmp_path):
    """Return what may stand in place of the last word that is typed."""
    program = shell(request.param)
    script = tmp_path / "script"
    script.write_text(ok("completion", request.param))
    (tmp_path / "my table.csv").touch()

    def completed(line):
        *words, last = line.split(" ")
        if request.param == "bash":
            text = BASH.format(script=script, words=" ".join(words), last=last)
            command = [program, "--norc", "-c", text]
        else:
            text = f"source {script}; complete -C '{line}'"
            command = [program, "--no-config", "-c", text]
        run = subprocess.run(
            command, capture_output=True, text=True, cwd=tmp_path, check=True
        )
        assert run.stderr == ""
        # fish adds the help after a tab, and quotes blanks.
        words = {row.split("\t")[0] for row in run.stdout.splitlines() if row}
        return {word.replace("\\ ", " ") for word in words}

    return completed


def test_shells_complete_commands_options_values_and_files(complete):
    assert complete("bayesmend ") == {*COMMANDS}
    assert complete("bayesmend le") == {"learn"}
    assert complete("bayesmend learn --sc") == {"--score"}
    assert complete("bayesmend learn --method ") == {*METHODS}
    assert complete("bayesmend learn --method e") == {
        method for method in METHODS if method.startswith("e")
    }
    assert complete("bayesmend query as") == {"asia"}
    assert complete("bayesmend completion ") == {"bash", "zsh", "fish"}
    assert complete("bayesmend learn my") == {"my table.csv"}
    assert complete("bayesmend learn x.csv --out my") == {"my table.csv"}


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_scripts_name_every_option_and_are_sound(name, tmp_path):
    text = ok("completion", name)
    dashes = "-l " if name == "fish" else "--"
    for command in typer.main.get_command(app).commands.values():
        for parameter in command.params:
            if parameter.param_type_name == "option":
                for word in (*parameter.opts, *parameter.secondary_opts):
                    assert f"{dashes}{word.removeprefix('--')}" in text
    script = tmp_path / "script"
    script.write_text(text)
    run = subprocess.run(
        [shell(name), "-n", script], capture_output=True, text=True, check=False
    )
    assert (run.returncode, run.stderr) == (0, "")


def test_another_shell_is_an_error():
    assert fails(1, "completion", "tcsh") == (
        "Error: shell must be one of bash, zsh, fish. Got 'tcsh' instead."
    )
