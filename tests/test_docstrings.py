"""Parameters that many functions share are described in one wording."""

import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import bayesmend
from bayesmend._docs import SHARED

PACKAGE = Path(bayesmend.__file__).parent


def functions_and_classes():
    for info in pkgutil.walk_packages([str(PACKAGE)], "bayesmend."):
        if info.name.endswith("__main__"):
            continue
        module = importlib.import_module(info.name)
        for _, thing in inspect.getmembers(module):
            if getattr(thing, "__module__", None) == info.name and thing.__doc__:
                yield f"{info.name}.{thing.__name__}", thing
                for name in vars(thing):
                    method = getattr(thing, name)
                    if inspect.isroutine(method) and method.__doc__:
                        yield f"{info.name}.{thing.__name__}.{name}", method


def test_no_braces_are_left_in_a_docstring():
    braces = re.compile(r"^ *\{(?:" + "|".join(SHARED) + r")[\w, ]*\}$", re.MULTILINE)
    left = [
        name
        for name, thing in functions_and_classes()
        if name != "bayesmend._docs.documented" and braces.search(thing.__doc__)
    ]
    assert not left, "decorate them with @documented"


def test_what_is_shared_is_not_written_out_again():
    again = []
    for path in PACKAGE.rglob("*.py"):
        source = re.sub(r"^ +", "", path.read_text(encoding="utf-8"), flags=re.M)
        again += [
            f"{path.relative_to(PACKAGE)}: {name}"
            for name, words in SHARED.items()
            if path.name != "_docs.py"
            and re.sub(r"^ +", "", words, flags=re.MULTILINE) in source
        ]
    assert not again, "name them in braces instead"
