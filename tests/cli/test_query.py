"""The command query: what is shown, and what cannot be asked."""

import json

import pytest
from support.clirunner import fails, ok

import bayesmend as bm


def test_a_distribution_is_shown_in_columns():
    text = ok("query", "asia", "--target", "tub", "--given", "asia=yes")
    assert text == (
        "given asia=yes (probability 0.010000)\n\n"
        "tub  yes  0.050000\n"
        "     no   0.950000\n"
    )


def test_targets_may_be_joined():
    options = ("--target", "tub,smoke", "--target", "asia", "--joint")
    lines = ok("query", "asia", *options).splitlines()
    assert [line.split()[0] for line in lines[:6:2]] == ["tub", "smoke", "asia"]
    assert lines[7].split() == ["tub", "smoke", "asia", "together"]
    assert lines[-1].split() == ["no", "no", "no", "0.490050"]


def test_rare_states_keep_their_digits():
    text = ok("query", "asia", "--target", "tub,lung,asia", "--joint")
    assert "yes  yes   yes   2.75e-05" in text


def test_weighting_shows_its_error():
    options = ("--inference", "weighting", "--samples", 5000, "--seed", 1)
    text = ok("query", "asia", "--target", "lung", "--given", "xray=yes", *options)
    assert " ± 0.0" in text
    assert text.splitlines()[-1].startswith("as good as ")


def test_json_has_one_schema():
    text = ok("query", "asia", "--target", "tub", "--given", "asia=yes", "--json")
    facts = json.loads(text)
    assert facts["given"] == {"asia": "yes"}
    assert facts["targets"][0]["variable"] == "tub"
    assert facts["targets"][0]["distribution"][0] == {
        "state": "yes",
        "probability": pytest.approx(0.05),
        "error": None,
    }
    assert set(facts) == {
        *("given", "probability", "log_probability", "targets", "joint"),
        *("most_probable", "inference", "effective_samples", "version"),
    }


def test_evidence_may_hold_an_equals_sign(tmp_path):
    network = bm.Network(
        bm.Dag.from_arcs("ab"), (("=1", "<=2"),) * 2, ([[0.5, 0.5]],) * 2
    )
    path = tmp_path / "net.json"
    bm.write_network(network, path)
    text = ok("query", path, "--target", "b", "--given", "a=<=2")
    assert text.startswith("given a=<=2 (probability 0.5")


@pytest.mark.parametrize(
    ("code", "args", "message"),
    [
        (1, ("--target", "lungs"), "no variable named 'lungs'. Available: asia, tub,"),
        (
            1,
            ("--given", "smoke=often"),
            "'smoke' has no state 'often'. Its states: yes",
        ),
        (2, ("--given", "smoke"), "--given must look like NAME=VALUE. Got 'smoke'"),
        (2, ("--given", "tub=no", "--given", "tub=yes"), "two values for 'tub'. Give"),
        (
            1,
            ("--given", "tub=yes", "--given", "either=no", "--given", "smoke=yes"),
            "the evidence is impossible: tub=yes, either=no has probability zero.",
        ),
        (
            1,
            ("--inference", "x"),
            "--inference must be one of exact, weighting. Got 'x'",
        ),
        (2, ("--samples", "0"), "Invalid value for '--samples'"),
        (
            1,
            ("--samples", "9"),
            "Error: --samples 9 goes with --inference weighting. Got 'exact' instead.",
        ),
        (2, ("--target", ""), "--target must name variables. Got ''."),
        (2, ("--target", "lung, "), "--target must name variables. Got 'lung, '."),
        (
            1,
            ("--max-memory", "10"),
            "more than --max-memory 10. Give more evidence, raise --max-memory, or use "
            "--inference weighting, which is approximate.",
        ),
        (
            1,
            ("--joint", "--inference", "weighting", "--max-memory", "1000"),
            "more than --max-memory 1000. Ask for fewer targets, or raise",
        ),
    ],
)
def test_what_cannot_be_asked_is_refused(code, args, message):
    assert message in fails(code, "query", "asia", *args)


def test_an_unknown_network_is_named():
    assert "there is no file 'asien'" in fails(1, "query", "asien")


def test_a_folder_stands_for_the_network_in_it(tmp_path):
    message = f"Error: '{tmp_path}' is a directory. Name "
    assert fails(1, "query", tmp_path) == f"{message}a network file in it."
    inside = tmp_path / "network.bif"
    bm.write_network(bm.load_network("asia"), inside)
    asked = ("--target", "tub")
    assert ok("query", tmp_path, *asked) == ok("query", inside, *asked)
    # What takes no ensemble asks for the network itself.
    message = f"{message}'{inside}', which is in it."
    assert fails(1, "sample", tmp_path, "--rows", 5) == message


def test_a_result_stands_for_its_network(tmp_path, table):
    out = tmp_path / "out"
    ok("learn", table, "--out", out, "--seed", 1)
    asked = ("--json",)
    shown = ok("query", out / "network.bif", *asked)
    assert ok("query", out / "result.json", *asked) == shown
    assert ok("query", out, *asked) == shown


def test_facts_without_a_network_name_the_file_beside_them(tmp_path, asia):
    out = tmp_path / "out"
    ok("structure", asia, "--out", out)
    facts, inside = out / "result.json", out / "network.bif"
    message = (
        f"Error: '{facts}' holds facts alone. Name '{inside}', which is beside it."
    )
    assert fails(1, "query", facts) == message
    inside.unlink()
    assert "is no saved result: it holds facts alone" in fails(1, "query", facts)
