"""The command compare."""

import json

from support.clirunner import fails, ok


def test_methods_are_compared_on_a_table(asia):
    options = ("--methods", "em,mode", "--repeats", 1, "--seed", 1, "--rate", 0.02)
    lines = ok("compare", asia, *options).splitlines()
    assert lines[0].endswith("hidden cells, 1 repeat")
    assert [line.split()[0] for line in lines[2:]] == ["method", "em", "mode"]
    facts = json.loads(ok("compare", asia, *options, "--json"))
    assert facts["best"] == "em"
    assert facts["seed"] == 1


def test_a_method_that_is_none_is_told(asia):
    message = fails(1, "compare", asia, "--methods", "em,best")
    assert "must be" in message
    assert "'best'" in message
