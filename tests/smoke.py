"""Use an installed package as a newcomer would, outside the repository.

    python tests/smoke.py [dist/bayesmend-*.whl]

Run by ``make smoke``, ``make wheel`` and cibuildwheel with the interpreter of an
environment that holds nothing but what the archive asks for. The contents of an archive
that is named are looked at, too.
"""

import subprocess
import sys
import tarfile
import tempfile
import zipfile
from importlib import metadata
from pathlib import Path, PurePosixPath

NOT_FOR_USERS = {".ci", "benchmarks", "experiments", "build", "demo"}


def check_contents(archive):
    if archive.suffix == ".whl":
        tops = {PurePosixPath(n).parts[0] for n in zipfile.ZipFile(archive).namelist()}
        extra = {top for top in tops if not top.endswith(".dist-info")} - {"bayesmend"}
    else:
        with tarfile.open(archive) as source:
            parts = [PurePosixPath(name).parts for name in source.getnames()]
        extra = {p[1] for p in parts if len(p) > 1} & NOT_FOR_USERS
    assert not extra, f"{archive} holds {', '.join(sorted(extra))}"


def check_package(version):
    import bayesmend as bm

    assert Path(bm.__file__).is_relative_to(sys.prefix), bm.__file__
    assert bm.__version__ == version, bm.__version__
    table = {"a": ["x", "x", "y", "y"], "b": ["u", None, "v", "v"]}
    result = bm.learn(table, seed=1)
    assert result.status == "optimal", result
    assert result.completed.to_table()["b"] == ["u", "u", "v", "v"]


def check_commands(version, folder):
    program = Path(sys.executable).with_name("bayesmend")

    def run(*args):
        return subprocess.run(
            [program, *args], cwd=folder, check=True, stdout=subprocess.PIPE, text=True
        ).stdout

    assert run("--version") == f"bayesmend {version}\n"
    run("demo", "--out", "demo")
    assert (folder / "demo" / "completed.csv").exists()


def main(archive):
    version = metadata.version("bayesmend")
    if archive is not None:
        assert archive.name.startswith(f"bayesmend-{version}"), archive
        check_contents(archive)
    check_package(version)
    with tempfile.TemporaryDirectory() as folder:
        check_commands(version, Path(folder))
    what = "bayesmend" if archive is None else archive.name
    sys.stdout.write(f"{what} works in an empty environment\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
