"""Show the main job on a network that comes with the package."""

from pathlib import Path
from typing import Annotated

from bayesmend.cli.learn import OUTPUTS, facts_of, files_of, summarise
from bayesmend.cli.options import Folder, option
from bayesmend.cli.terminal import end_interrupted, say
from bayesmend.datasets import load_network
from bayesmend.errors import ParameterError
from bayesmend.formats.bif import render as render_bif
from bayesmend.graph.distance import structural_hamming_distance
from bayesmend.hiding.mechanisms import hide_mcar
from bayesmend.learning.learn import learn
from bayesmend.outcome import Stopped

__all__ = ["demo"]

_OUT = Path("demo")
_ROWS, _RATE, _SEED = 2000, 0.01, 1
_FILES = {
    "asia.bif": "the network that the rows are drawn from",
    "complete.csv": "the rows as drawn",
    "incomplete.csv": "the rows without the hidden cells: all that learning sees",
    "truth.csv": "what the hidden cells held: row (from 0), variable, value",
    **OUTPUTS,
}


def demo(
    out: Annotated[Path, option("DIR", "Folder for the files; made if needed.")] = _OUT,
) -> None:
    """Show the main job on rows of the ASIA network.

    Draws rows, hides cells, learns from what is left, and compares with the truth.
    """
    folder = Folder(out, force=True)
    folder.check(_FILES)
    _check_others(out)
    network = load_network("asia")
    complete = network.sample(_ROWS, seed=_SEED)
    hidden = hide_mcar(complete, _RATE, seed=_SEED)
    say(
        f"Drew {complete.n_rows:,} rows of the ASIA network ({network.n_vars} "
        f"variables, seed {_SEED}) and hid {hidden.n_hidden:,} of "
        f"{hidden.n_candidates:,} cells completely at random.\n"
    )
    result = learn(hidden.data, seed=_SEED)
    n_right = round(hidden.accuracy(result.completed) * hidden.n_hidden)
    distance = structural_hamming_distance(result.dag, network.dag)
    recovered = f"{n_right} of {hidden.n_hidden} ({n_right / hidden.n_hidden:.1%})"
    notes = {"hidden cells recovered": recovered, "distance to ASIA": str(distance)}
    options = {"method": "auto", "seed": _SEED}
    folder.write(
        {
            "asia.bif": render_bif(network),
            "complete.csv": complete.write_csv,
            "incomplete.csv": hidden.data.write_csv,
            "truth.csv": hidden.write_csv,
            **files_of(result, facts_of(result, options), notes=notes),
        }
    )
    say(summarise(result))
    say(f"hidden cells recovered: {recovered}")
    say(
        f"structural Hamming distance to the ASIA network: {distance} "
        f"(it has {network.dag.n_arcs} arcs)\n"
    )
    _list_files(out)
    if result.stopped is Stopped.INTERRUPT:
        end_interrupted()


def _check_others(folder: Path) -> None:
    """Refuse a folder with files that are not the demo's, which it may replace."""
    others = {path.name for path in folder.glob("*")} - set(_FILES)
    if others:
        message = (
            f"folder '{folder}' holds other files, such as '{min(others)}'. "
            "Name a new or empty folder with --out."
        )
        raise ParameterError(message)


def _list_files(folder: Path) -> None:
    width = max(len(str(folder / name)) for name in _FILES)
    for name, what in _FILES.items():
        say(f"{folder / name!s:{width}}  {what}")
    say(
        f"\nNext: open {folder / 'report.html'} in a browser, or run "
        f"bayesmend learn {folder / 'incomplete.csv'} --out NEW"
    )
