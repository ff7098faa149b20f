"""Learn a structure from a complete table."""

from pathlib import Path
from typing import Annotated, Any

from bayesmend import __version__
from bayesmend.cli.options import (
    OWN_MEMORY,
    Folder,
    Reading,
    Search,
    defaults_of,
    option,
)
from bayesmend.cli.terminal import end_interrupted, json_text, print_json, say
from bayesmend.data.states import quantity
from bayesmend.formats.bif import render as render_bif
from bayesmend.outcome import Stopped
from bayesmend.report.reading import reading_facts
from bayesmend.structure import StructureResult, learn_structure
from bayesmend.structure.ess import ess_in_words
from bayesmend.structure.others import others_in_words

__all__ = ["structure"]

_OUTPUTS = ("network.bif", "result.json")
_default = defaults_of(learn_structure)


def structure(
    *,
    folder: Folder,
    solver: Annotated[
        str,
        option("NAME", "auto, subsets or ilp (exact), order or greedy (heuristic)."),
    ] = _default.solver,
    gap: Annotated[
        float | None,
        option(
            "NATS",
            "Stop when no structure can be more than so much better; by default auto "
            "decides whether to go on for a proof, and ilp does.",
        ),
    ] = _default.gap,
    certificate: Annotated[
        str | None,
        option(
            "FILE",
            "Take the proof of the bound to a .json or .json.gz file, for others to "
            "check: bayesmend verify.",
        ),
    ] = _default.certificate,
    max_memory: Annotated[float | None, OWN_MEMORY] = _default.max_memory,
    search: Search,
    reading: Reading,
) -> None:
    """Learn the structure of a network from a complete table.

    Writes network.bif and result.json. Ctrl-C and --time-limit end the search; the
    best network so far is written. After Ctrl-C the exit code is 130.
    """
    folder.check(_OUTPUTS, certificate)
    arguments = search.arguments()
    data = reading.table()
    own: dict[str, Any] = {"solver": solver, "gap": gap, "certificate": certificate}
    result = learn_structure(data, **own, **arguments, max_memory=max_memory)
    facts = {
        **result.to_dict(),
        "n_rows": data.n_rows,
        **reading_facts(data),
        "options": {
            **own,
            **search.to_dict(),
            **reading.to_dict(),
        },
        "version": __version__,
    }
    network = render_bif(result.network)
    folder.write({"network.bif": network, "result.json": json_text(facts) + "\n"})
    if folder.json:
        print_json(facts)
    else:
        say(_summary(result, [folder.out / name for name in _OUTPUTS]))
    if result.stopped is Stopped.INTERRUPT:
        end_interrupted()


def _summary(result: StructureResult, outputs: list[Path]) -> str:
    certainty = {
        "optimal": "the best possible score",
        "bounded": f"at most {result.gap:.3f} below the best possible score",
        "heuristic": "no proof of the best possible score",
    }[result.certificate.value]
    lines = [
        f"score {result.score:.3f} ({certainty})",
        f"{quantity(result.dag.n_vars, 'variable')}, "
        f"{quantity(result.dag.n_arcs, 'arc')}",
        f"solver {result.solver}, {result.seconds:.2f} s",
    ]
    if result.stopped:
        lines[-1] += f", stopped by the {result.stopped.words}"
    told = (ess_in_words(result.detail), others_in_words(result.detail))
    lines += [words for words in told if words is not None]
    proofs = [] if result.certificate_file is None else [result.certificate_file]
    return "\n".join([*lines, *map(str, outputs), *proofs])
