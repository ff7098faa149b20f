"""The one-way layering of the package, and what importing it may load."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "bayesmend"

# Data flows down this list: a module imports only from modules on earlier lines. A
# package (formats, datasets) stands for all of its modules.
LAYERS = [
    "errors",
    "seed",
    "_checks",
    "_clock",
    "_files",
    "data",
    "graph",
    "score",
    "network",
    "inference",
    "structure",
    "formats",
    "learning",
    "report",
    "hiding",
    "datasets",
    "cli",
    "__main__",
]

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
EDGE = {"cli"}
# Modules that are themselves imported inside functions, with the package they are for.
ENGINES = {"structure/scip.py": {"pyscipopt"}}

SOURCES = sorted(PACKAGE.rglob("*.py"))


def module_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported_names(tree: ast.AST) -> list[tuple[int, str]]:
    """Line and full name of everything imported anywhere in a source file."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: relative import"
            found += [
                (node.lineno, f"{node.module}.{alias.name}") for alias in node.names
            ]
    return found


def own_imports(path: Path) -> list[tuple[int, str]]:
    """Line and module, below the package, of each import of our own."""
    names = imported_names(ast.parse(path.read_text(encoding="utf-8")))
    return [
        (line, name.split(".")[1]) for line, name in names if name.startswith("bayesm")
    ]


def top_level_packages(path: Path) -> set[str]:
    """Packages imported when the module itself is imported."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    statements = [n for n in tree.body if isinstance(n, ast.Import | ast.ImportFrom)]
    names = imported_names(ast.Module(statements, type_ignores=[]))
    return {name.split(".")[0] for _, name in names}


def ids(path: Path) -> str:
    return str(path.relative_to(PACKAGE))


@pytest.mark.parametrize("path", SOURCES, ids=ids)
def test_every_module_has_a_place_in_the_layers(path):
    assert module_of(path) in {*LAYERS, "__init__"}, "add it to LAYERS in this file"


@pytest.mark.parametrize(
    "path", [p for p in SOURCES if module_of(p) != "__init__"], ids=ids
)
def test_a_module_imports_only_from_layers_above_it(path):
    own = module_of(path)
    above = {*LAYERS[: LAYERS.index(own) + 1], "_core", "__version__"}
    wrong = [
        f"line {line}: {name}" for line, name in own_imports(path) if name not in above
    ]
    assert not wrong


@pytest.mark.parametrize("path", SOURCES, ids=ids)
def test_only_modules_that_compute_call_the_core(path):
    callers = {module_of(path) for _, name in own_imports(path) if name == "_core"}
    assert callers <= CORE_CALLERS


@pytest.mark.parametrize(
    "path", [p for p in SOURCES if module_of(p) not in EDGE], ids=ids
)
def test_optional_packages_are_imported_inside_functions(path):
    allowed = ALLOWED_AT_IMPORT | ENGINES.get(ids(path), set())
    assert top_level_packages(path) <= allowed


def modules_loaded_by(statement: str) -> set[str]:
    code = f"import sys; {statement}; import json; print(json.dumps(list(sys.modules)))"
    run = subprocess.run(
        [sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True
    )
    return {name.split(".")[0] for name in json.loads(run.stdout)}


def test_importing_the_package_loads_numpy_and_the_core_only():
    extra = (
        modules_loaded_by("import bayesmend")
        - modules_loaded_by("import numpy.random")
        - set(sys.stdlib_module_names)
    )
    assert extra <= {"bayesmend"}


def test_importing_the_package_does_not_load_optional_packages():
    optional = {"narwhals", "pandas", "polars", "pyarrow", "typer", "rich", "networkx"}
    optional |= {"pyscipopt", "scipy", "sklearn", "matplotlib", "pgmpy", "pyagrum"}
    assert not optional & modules_loaded_by("import bayesmend")
