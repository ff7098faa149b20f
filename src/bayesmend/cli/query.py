"""Ask a network a question."""

from typing import Annotated

from bayesmend import __version__
from bayesmend.cli.options import (
    AnyNet,
    Json,
    MaxMemory,
    Seed,
    Threads,
    defaults_of,
    flag,
    option,
    pairs,
    read_any,
    repeated,
    samples,
    words,
)
from bayesmend.cli.terminal import UsageError, print_json, say
from bayesmend.inference.query import N_SAMPLES
from bayesmend.inference.query import query as run

__all__ = ["query"]

_default = defaults_of(run)


def query(
    *,
    net: AnyNet,
    targets: Annotated[
        list[str] | None,
        repeated(
            "A,B,...",
            "Variables asked about, by default all that are not given",
            "--target",
        ),
    ] = None,
    given: Annotated[
        list[str] | None, repeated("NAME=STATE", "What is known; age=45 for a number")
    ] = None,
    joint: Annotated[
        bool, flag("--joint", "Show the joint distribution, too.")
    ] = _default.joint,
    inference: Annotated[
        str, option("NAME", "exact, or weighting: approximate, with errors.")
    ] = _default.inference,
    n_samples: Annotated[int | None, samples(N_SAMPLES)] = _default.n_samples,
    seed: Seed = None,
    n_threads: Threads = _default.n_threads,
    max_memory: MaxMemory = _default.max_memory,
    json: Json = False,
) -> None:
    """Ask a network or an ensemble for distributions, given what is known."""
    names = words(targets)
    if names is not None and not all(name.strip() for name in names or [""]):
        message = f"--target must name variables. Got {','.join(targets or [])!r}."
        raise UsageError(message)
    answer = run(
        read_any(net),
        names,
        given=pairs("--given", given),
        joint=joint,
        inference=inference,  # type: ignore[arg-type]
        n_samples=n_samples,
        seed=seed,
        n_threads=n_threads,
        max_memory=max_memory,
    )
    if json:
        print_json({**answer.to_dict(), "version": __version__})
    else:
        say(answer)
