"""Run the speed benchmarks: every module beside this one that has a ``main()``.

Each runs in a process of its own, so that memory and caches of one do not show in
another::

    python -m benchmarks.speed                  # all
    python -m benchmarks.speed --only reading   # one; may be repeated
    python -m benchmarks.speed --list
"""

import argparse
import ast
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.inputs import ROOT, parse_arguments

FOLDER = Path(__file__).parent


def has_main(path: Path) -> bool:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return any(isinstance(n, ast.FunctionDef) and n.name == "main" for n in tree.body)


def find_benchmarks() -> dict[str, str]:
    """Name and first docstring line of each benchmark, in alphabetical order."""
    found = {}
    for path in sorted(FOLDER.glob("*.py")):
        if not path.stem.startswith("_") and has_main(path):
            docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
            found[path.stem] = (docstring or "").partition("\n")[0]
    return found


def run(name: str) -> int:
    """Run one benchmark from the root of the repository; return its exit code."""
    code = f"import sys; from benchmarks.speed.{name} import main; sys.exit(main())"
    command = [sys.executable, "-c", code]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


def read_options(known: dict[str, str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.speed", description="Run the speed benchmarks."
    )
    parser.add_argument("--only", action="append", metavar="NAME", choices=list(known))
    parser.add_argument("--list", action="store_true", help="list them and stop")
    return parse_arguments(parser, None)


def main() -> int:
    known = find_benchmarks()
    arguments = read_options(known)
    if arguments.list:
        for name, title in known.items():
            print(f"{name:12} {title}")
        return 0
    failed = []
    for name in arguments.only or known:
        print(f"== {name}: {known[name]}", flush=True)
        start = time.perf_counter()
        if run(name) != 0:
            failed.append(name)
        print(f"== {name}: {time.perf_counter() - start:.1f} s\n", flush=True)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
