"""Completion of what is typed in a shell, by a script that needs no Python."""

from __future__ import annotations

import re
import typing
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal, NamedTuple, get_args

import typer

from bayesmend._checks import check_choice
from bayesmend.datasets import available_networks
from bayesmend.drawing.text import cut
from bayesmend.formats import MODULES
from bayesmend.inference import impute, query
from bayesmend.learning import impute_multiple, learn
from bayesmend.score import ScoreKind
from bayesmend.structure import SOLVERS, learn_structure
from bayesmend.validation import cross_validate

__all__ = ["completion"]

Shell = Literal["bash", "zsh", "fish"]

_MOST = 72  # characters of a help that stands beside a word

# What a command calls: the values of its options are those that its parameters take.
_LIBRARY: dict[str, Callable[..., Any]] = {
    "compare": cross_validate,
    "impute": impute,
    "learn": learn,
    "multiple": impute_multiple,
    "query": query,
    "structure": learn_structure,
}
_KNOWN: dict[str, Sequence[str]] = {
    "score": get_args(ScoreKind),
    "solver": (*SOLVERS, "greedy"),
    "to": [suffix[1:] for suffix in MODULES],
}


class _Option(NamedTuple):
    """An option as a shell sees it; without values any file may follow."""

    names: tuple[str, ...]
    help: str
    takes_value: bool
    values: tuple[str, ...]


class _Command(NamedTuple):
    """A command: its options, and words that may stand in place of a file, or must."""

    name: str
    help: str
    options: tuple[_Option, ...]
    words: tuple[str, ...]
    takes_files: bool


def completion(
    ctx: typer.Context,
    shell: Annotated[
        str,
        typer.Argument(metavar="SHELL", help="bash, zsh or fish.", show_default=False),
    ],
) -> None:
    """Print a script that completes commands, options, values in a shell.

    Keep it where the shell looks for it, once: ~/.local/share/bash-completion/
    completions/bayesmend, a file _bayesmend in a folder of zsh's $fpath, or
    ~/.config/fish/completions/bayesmend.fish. The shell reads it by itself; no Python
    runs when you press TAB.
    """
    check_choice("shell", shell, get_args(Shell))
    group: Any = ctx.find_root().command
    commands = [_seen(name, command) for name, command in group.commands.items()]
    typer.echo({"bash": _bash, "zsh": _zsh, "fish": _fish}[shell](commands), nl=False)


def _seen(name: str, command: Any) -> _Command:
    options = [p for p in command.params if p.param_type_name == "option"]
    names = {p.name for p in command.params if p.param_type_name == "argument"}
    words: tuple[str, ...] = ()
    if names & {"net", "first"}:
        words = available_networks()
    elif name == "completion":
        words = get_args(Shell)
    helped = _Option(("--help",), "Show this message and exit.", False, ())
    return _Command(
        name,
        _first_line(command.help),
        (*(_option(name, p) for p in options), helped),
        words,
        name != "completion",
    )


def _option(command: str, parameter: Any) -> _Option:
    values = () if parameter.is_flag else _values(command, parameter.name)
    names = (*parameter.opts, *parameter.secondary_opts)
    return _Option(names, _first_line(parameter.help), not parameter.is_flag, values)


def _values(command: str, name: str) -> tuple[str, ...]:
    """Return the words that an option takes, where they can be listed."""
    if name in _KNOWN:
        return tuple(_KNOWN[name])
    function: Any = _LIBRARY.get(command)
    if function is None:
        return ()
    hints = typing.get_type_hints(getattr(function, "__wrapped__", function))
    return tuple(_words_of(hints.get(name)))


def _words_of(hint: Any) -> list[str]:
    """List the words that a type allows.

    Examples
    --------
    >>> _words_of(Literal["a", "b"] | None), _words_of(int)
    (['a', 'b'], [])
    """
    if typing.get_origin(hint) is Literal:
        return [word for word in get_args(hint) if isinstance(word, str)]
    return [word for part in get_args(hint) for word in _words_of(part)]


def _first_line(text: str | None) -> str:
    """Return the first sentence of a help text.

    Examples
    --------
    >>> _first_line("Show it, e.g. all.  Or not.")
    'Show it, e.g. all'
    """
    line = re.split(r"\.\s+(?=[A-Z])|; ", " ".join((text or "").split()))[0]
    return cut(line.rstrip(".;"), _MOST)


# --- bash -----------------------------------------------------------------------------


def _bash(commands: Sequence[_Command]) -> str:
    values, options, words = [], [], []
    for command in commands:
        names = [n for option in command.options for n in option.names]
        options.append(f'        {command.name}) words="{" ".join(names)}" ;;')
        if command.words:
            words.append(
                f'        {command.name}) words="{" ".join(command.words)}" ;;'
            )
        values += [
            f'        "{command.name} {name}") words="{" ".join(option.values)}" ;;'
            for option in command.options
            if option.values
            for name in option.names
        ]
    return _BASH.format(
        commands=" ".join(command.name for command in commands),
        values="\n".join(values),
        options="\n".join(options),
        words="\n".join(words),
        wordy=" ".join(command.name for command in commands if not command.takes_files),
    )


_BASH = """\
# Completion of bayesmend in bash.
_bayesmend() {{
    local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}"
    local command="" words="" at
    for ((at = 1; at < COMP_CWORD; at++)); do
        if [[ "${{COMP_WORDS[at]}}" != -* ]]; then
            command="${{COMP_WORDS[at]}}"
            break
        fi
    done
    if [[ -z "$command" ]]; then
        words="{commands}"
        [[ "$word" == -* ]] && words="--version --debug --help"
        COMPREPLY=($(compgen -W "$words" -- "$word"))
        return
    fi
    case "$command $before" in
{values}
    esac
    if [[ -n "$words" ]]; then
        COMPREPLY=($(compgen -W "$words" -- "$word"))
        return
    fi
    if [[ "$word" == -* ]]; then
        case "$command" in
{options}
        esac
        COMPREPLY=($(compgen -W "$words" -- "$word"))
        return
    fi
    if [[ "$before" != -* ]]; then
        case "$command" in
{words}
        esac
    fi
    if [[ " {wordy} " == *" $command "* ]]; then
        COMPREPLY=($(compgen -W "$words" -- "$word"))
        return
    fi
    # Beside these words any file.
    local IFS=$'\\n'
    COMPREPLY=($(compgen -W "${{words// /$IFS}}" -- "$word") $(compgen -f -- "$word"))
    compopt -o filenames 2> /dev/null || :
}}
complete -F _bayesmend bayesmend
"""


# --- zsh ------------------------------------------------------------------------------


def _zsh(commands: Sequence[_Command]) -> str:
    listed = "\n".join(f"        {_quoted(f'{c.name}:{c.help}')}" for c in commands)
    cases = "\n".join(_zsh_case(command) for command in commands)
    return _ZSH.format(commands=listed, cases=cases)


def _zsh_case(command: _Command) -> str:
    specs = []
    for option in command.options:
        told = re.sub(r"([\[\]:\\])", r"\\\1", option.help)
        value = ""
        if option.takes_value:
            action = f"({' '.join(option.values)})" if option.values else "_files"
            value = f":value:{action}"
        specs += [_quoted(f"*{name}[{told}]{value}") for name in option.names]
    others = "*:file:_files"
    if not command.takes_files:
        others = f"*:word:({' '.join(command.words)})"
    elif command.words:
        words = f"words:word:({' '.join(command.words)})"
        others = f'*:file:{{_alternative "{words}" "files:file:_files"}}'
    joined = " \\\n                ".join([*specs, _quoted(others)])
    return (
        f"        {command.name})\n            _arguments \\\n"
        f"                {joined}\n            ;;"
    )


def _quoted(text: str) -> str:
    r"""Quote a word of a shell.

    Examples
    --------
    >>> print(_quoted("R's"))
    'R'\''s'
    """
    return "'" + text.replace("'", "'\\''") + "'"


_ZSH = """\
#compdef bayesmend
# Completion of bayesmend in zsh.
_bayesmend() {{
    local -a commands
    commands=(
{commands}
    )
    if (( CURRENT == 2 )); then
        _describe command commands
        return
    fi
    shift words
    (( CURRENT-- ))
    case "$words[1]" in
{cases}
    esac
}}
if [[ "$funcstack[1]" == _bayesmend ]]; then
    _bayesmend "$@"
else
    compdef _bayesmend bayesmend
fi
"""


# --- fish -----------------------------------------------------------------------------


def _fish(commands: Sequence[_Command]) -> str:
    lines = ["# Completion of bayesmend in fish."]
    for command in commands:
        first = "complete -c bayesmend -n __fish_use_subcommand -f"
        lines.append(f"{first} -a {command.name} -d {_fish_quoted(command.help)}")
    for command in commands:
        seen = f"'__fish_seen_subcommand_from {command.name}'"
        start = f"complete -c bayesmend -n {seen}"
        if command.words:
            only = "" if command.takes_files else " -f"
            lines.append(f"{start}{only} -a {_fish_quoted(' '.join(command.words))}")
        for option in command.options:
            names = " ".join(f"-l {name.removeprefix('--')}" for name in option.names)
            told = f"{start} {names} -d {_fish_quoted(option.help)}"
            if option.values:
                told += f" -x -a {_fish_quoted(' '.join(option.values))}"
            elif option.takes_value:
                told += " -r"
            lines.append(told)
    return "\n".join(lines) + "\n"


def _fish_quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
