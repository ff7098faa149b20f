"""The way of the data goes one way: between packages, inside them, and in the core."""

import ast
import json
import re
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "bayesmend"
CPP = ROOT / "cpp"

# Data flows down this list: a module imports only from modules on earlier lines. A
# package stands for all of its modules, which form no cycle among themselves.
LAYERS = [
    "_visible",
    "_interrupts",
    "errors",
    "_docs",
    "_rows",
    "_copies",
    "_spelling",
    "_hints",
    "_columns",
    "_formulas",
    "_packages",
    "_shown",
    "_link",
    "seed",
    "_progress",
    "_warn",
    "_checks",
    "_limits",
    "_container",
    "_files",
    "_clock",
    "_entrance",
    "verification",
    "data",
    "_checkpoint",
    "graph",
    "drawing",
    "outcome",
    "score",
    "proofs",
    "network",
    "inference",
    "structure",
    "formats",
    "learning",
    "view",
    "hiding",
    "validation",
    "report",
    "plot",
    "sklearn",
    "datasets",
    "notebook",
    "cli",
    "__main__",
]

# The ways to learn do not know of each other, with this exception.
BETWEEN_WAYS_OF_LEARNING = {
    ("augment", "em"),  # a completion found by EM is one of its starts
    ("ensemble", "em"),  # chains start from its network, and it fits the parameters
    ("em", "mechanism"),  # no way to learn, but what may explain missing cells
    ("augment", "mechanism"),  # likewise, under which it searches completions
    ("cluster", "em"),  # which searches samples of its rows, and counts all of them
    ("ensemble", "mechanism"),  # likewise, which each member learns anew
}

# The modules that may call the compiled core: those that read, write, count, score,
# search or draw.
CORE_CALLERS = {
    "_clock",
    "data",
    "score",
    "structure",
    "network",
    "inference",
    "learning",
}

# Optional packages are imported inside the functions that need them.
ALLOWED_AT_IMPORT = {"numpy", "bayesmend", *sys.stdlib_module_names}
EDGE = {"cli", "sklearn"}
# Modules that are themselves imported inside functions, with the package they are for.
ENGINES = {
    f"structure/{name}.py": {"pyscipopt"} for name in ("branching", "dual", "scip")
}

# Folders of the core: a file includes only from its own folder and earlier ones.
CORE_LAYERS = [
    "base",
    "table",
    "score",
    "structure",
    "network",
    "inference",
    "augment",
]


class Import(NamedTuple):
    """A module that a file imports, or a header that it includes."""

    path: Path
    line: int
    target: str

    def __str__(self):
        place = f"{self.path.relative_to(ROOT)}:{self.line}"
        return f"{place} imports {self.target}"


def listing(imports):
    return "".join(f"\n  {wrong}" for wrong in imports)


def find_cycle(imports, edge):
    """Return the imports that lead from a file back to itself, if some do."""
    graph, by_edge = {}, {}
    for found in imports:
        own, other = edge(found)
        if own != other:
            graph.setdefault(own, set()).add(other)
            by_edge[own, other] = found
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        # Each name of the cycle is imported by the next.
        return [by_edge[own, other] for other, own in pairwise(error.args[1])]
    return []


# The package.


def module_name(path):
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


SOURCES = sorted(PACKAGE.rglob("*.py"))
MODULES = {module_name(path) for path in SOURCES}
# What any module may take from the package itself.
COMMON = {"bayesmend._core", "bayesmend.__version__"}


def imports_of(path, nodes):
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (Import(path, node.lineno, name.name) for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno} imports relatively"
            for name in node.names:
                full = f"{node.module}.{name.name}"
                target = full if full in MODULES | COMMON else node.module
                yield Import(path, node.lineno, target)


def parsed(path):
    return ast.parse(path.read_text(encoding="utf-8"))


# Imports inside functions count as well: they hide a cycle, they do not break it.
IMPORTS = [i for path in SOURCES for i in imports_of(path, ast.walk(parsed(path)))]
OWN = [i for i in IMPORTS if i.target.split(".")[0] == "bayesmend"]


def layer(module):
    """Return the part of a module's name that has a place in the layers."""
    return module.split(".")[1] if "." in module else "bayesmend"


def test_every_module_has_a_place_in_the_layers():
    homeless = {layer(name) for name in MODULES} - {"bayesmend", *LAYERS}
    assert not homeless, f"add to LAYERS in {__file__}: {homeless}"


def test_a_module_imports_only_from_layers_above_it():
    def is_wrong(found):
        own, other = layer(module_name(found.path)), layer(found.target)
        if own == "bayesmend" or found.target in COMMON:
            return False
        return other not in LAYERS[: LAYERS.index(own) + 1]

    wrong = [found for found in OWN if is_wrong(found)]
    assert not wrong, listing(wrong)


def test_modules_of_a_package_form_no_cycle():
    # The package itself is made of all of them.
    inner = [i for i in OWN if module_name(i.path) != "bayesmend"]
    cycle = find_cycle(inner, lambda i: (module_name(i.path), i.target))
    assert not cycle, listing(cycle)


def test_the_ways_to_learn_do_not_know_of_each_other():
    def way(module):
        parts = module.split(".")
        is_way = len(parts) > 2 and (PACKAGE / "learning" / parts[2]).is_dir()
        return parts[2] if is_way and parts[1] == "learning" else None

    pairs = [(way(module_name(i.path)), way(i.target), i) for i in OWN]
    between = [(a, b, i) for a, b, i in pairs if a and b and a != b]
    wrong = [i for a, b, i in between if (a, b) not in BETWEEN_WAYS_OF_LEARNING]
    assert not wrong, listing(wrong)


def test_only_modules_that_compute_call_the_core():
    calls = [found for found in OWN if found.target == "bayesmend._core"]
    wrong = [i for i in calls if layer(module_name(i.path)) not in CORE_CALLERS]
    assert not wrong, listing(wrong)


def test_the_package_knows_nothing_of_what_stands_beside_it():
    beside = {"experiments", "benchmarks", "fuzz", "tests", "support"}
    wrong = [i for i in IMPORTS if i.target.split(".")[0] in beside]
    assert not wrong, listing(wrong)


def test_optional_packages_are_imported_inside_functions():
    wrong = []
    for path in SOURCES:
        if layer(module_name(path)) in EDGE:
            continue
        name = path.relative_to(PACKAGE).as_posix()
        allowed = ALLOWED_AT_IMPORT | ENGINES.get(name, set())
        found = imports_of(path, parsed(path).body)
        wrong += [i for i in found if i.target.split(".")[0] not in allowed]
    assert not wrong, listing(wrong)


def modules_loaded_by(statement):
    code = f"import sys; {statement}; import json; print(json.dumps(list(sys.modules)))"
    run = subprocess.run(
        [sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True
    )
    return {name.split(".")[0] for name in json.loads(run.stdout)}


def test_all_of_the_package_loads_numpy_and_the_core_only():
    extra = (
        modules_loaded_by("from bayesmend import *")
        - modules_loaded_by("import numpy.random")
        - set(sys.stdlib_module_names)
    )
    assert extra <= {"bayesmend"}


# The core.

INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^>"]+)[>"]')


def includes_of(path):
    """Every header that a file includes; those of ours keep their quotes."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if match := INCLUDE.match(line):
            mark, header = match.groups()
            yield Import(path, number, f'"{header}"' if mark == '"' else header)


INCLUDES = [i for path in sorted(CPP.rglob("*.?pp")) for i in includes_of(path)]
CORE = [i for i in INCLUDES if i.path.is_relative_to(CPP / "core")]


def folder(header):
    """Return the folder of the core that holds a header of ours."""
    return header.removeprefix('"core/').split("/")[0]


def test_the_core_includes_only_from_folders_above():
    def is_wrong(found):
        own = folder(f'"{found.path.relative_to(CPP).as_posix()}"')
        if not found.target.startswith('"core/'):
            return True
        return CORE_LAYERS.index(folder(found.target)) > CORE_LAYERS.index(own)

    wrong = [i for i in CORE if i.target.startswith('"') and is_wrong(i)]
    assert not wrong, listing(wrong)


def test_headers_form_no_cycle():
    def edge(found):
        return found.path.relative_to(CPP).as_posix(), found.target.strip('"')

    cycle = find_cycle(INCLUDES, edge)
    assert not cycle, listing(cycle)


def test_the_core_knows_nothing_of_python():
    wrong = [i for i in CORE if re.search("Python.h|nanobind|pybind|numpy", i.target)]
    assert not wrong, listing(wrong)


def test_bindings_include_the_core_and_each_other_only():
    own = [i for i in INCLUDES if i.target.startswith('"') and i not in CORE]
    wrong = [i for i in own if not re.match('"(core|bind)/', i.target)]
    assert not wrong, listing(wrong)
