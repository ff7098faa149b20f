"""Completion: scripts that the shells themselves run here."""

import os
import pty
import shutil
import subprocess

import pytest
import typer
from support.clirunner import fails, ok, read_until

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
    assert complete("bayesmend learn --sco") == {"--score"}
    assert complete("bayesmend learn --method ") == {*METHODS}
    assert complete("bayesmend learn --method e") == {
        method for method in METHODS if method.startswith("e")
    }
    assert complete("bayesmend query as") == {"asia"}
    assert complete("bayesmend completion ") == {"bash", "zsh", "fish"}
    assert complete("bayesmend learn my") == {"my table.csv"}
    assert complete("bayesmend learn x.csv --out my") == {"my table.csv"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("bayesmend le", "bayesmend learn "),
        ("bayesmend learn --sc", "bayesmend learn --score "),
        ("bayesmend learn --method exa", "bayesmend learn --method exact "),
        ("bayesmend query as", "bayesmend query asia "),
        ("bayesmend completion fi", "bayesmend completion fish "),
        ("bayesmend learn my", "bayesmend learn my\\ table.csv "),
    ],
)
def test_zsh_completes_what_is_typed(typed, completed, tmp_path):
    program = shell("zsh")
    (tmp_path / "_bayesmend").write_text(ok("completion", "zsh"))
    (tmp_path / "my table.csv").touch()
    main, other = pty.openpty()
    # Where the editor of zsh begins and ends is marked by the prompt.
    env = {**os.environ, "TERM": "dumb", "PS1": "ready>", "ZDOTDIR": str(tmp_path)}
    with subprocess.Popen(
        [program, "-f", "-i"],
        **dict.fromkeys(("stdin", "stdout", "stderr"), other),
        cwd=tmp_path,
        env=env,
        start_new_session=True,
    ) as process:
        try:
            load = f"fpath=({tmp_path} $fpath); autoload -Uz compinit; compinit -u -D"
            os.write(main, f"{load}; echo lo''aded\n".encode())
            read_until(main, "loaded\r\n")
            os.write(main, f"{typed}\t".encode())
            read_until(main, completed)
        finally:
            process.kill()
    os.close(main)
    os.close(other)


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
