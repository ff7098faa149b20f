"""Compare methods on a table."""

from typing import Annotated

from bayesmend import __version__
from bayesmend.cli.options import (
    Json,
    Reading,
    Seed,
    Threads,
    defaults_of,
    option,
    repeated,
    words,
)
from bayesmend.cli.terminal import end_interrupted, print_json, say
from bayesmend.outcome import Stopped
from bayesmend.validation import cross_validate as run

__all__ = ["compare"]

_default = defaults_of(run)


def compare(
    *,
    methods: Annotated[
        list[str] | None,
        repeated(
            "A,B,...",
            "Methods of learn, and mode (the observed shares); auto, em, ensemble and "
            "mode by default",
        ),
    ] = None,
    mechanism: Annotated[
        str, option("NAME", "How cells are hidden: mcar, mar or mnar.")
    ] = _default.mechanism,
    rate: Annotated[
        float, option("SHARE", "Share of the observed cells that is hidden.")
    ] = _default.rate,
    n_repeats: Annotated[
        int, option("N", "How often cells are hidden.", "--repeats", min=1)
    ] = _default.n_repeats,
    time_limit: Annotated[
        float | None, option("S", "Seconds in all.")
    ] = _default.time_limit,
    seed: Seed = _default.seed,
    n_threads: Threads = _default.n_threads,
    json: Json = False,
    reading: Reading,
) -> None:
    """Tell which method fills a table best: hide cells, fill them, and compare.

    Log-loss counts how sure a method was of what was right; behind: by how much it is
    above the lowest; calibration: how far probabilities are from the shares that came
    true. Ctrl-C leaves the repeats that are done.
    """
    found = run(
        reading.table(),
        methods=words(methods) or _default.methods,
        mechanism=mechanism,  # type: ignore[arg-type]
        rate=rate,
        n_repeats=n_repeats,
        time_limit=time_limit,
        seed=seed,
        n_threads=n_threads,
    )
    if json:
        print_json({**found.to_dict(), "seed": seed, "version": __version__})
    else:
        say(found)
    if found.stopped is Stopped.INTERRUPT:
        end_interrupted()
