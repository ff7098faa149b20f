"""Questions: distributions, evidence, joint tables, messages."""

import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given
from hypothesis import strategies as st
from support import oracle
from support.examples import examples
from support.networks import chains, grid, plain
from support.shared import ROOT
from support.strategies import networks_with_holes

import bayesmend as bm
from bayesmend.errors import DataError, InferenceError, ParameterError


def labelled(network, row):
    return {
        name: labels[code]
        for name, labels, code in zip(network.names, network.states, row, strict=True)
        if code is not None
    }


@given(networks_with_holes(max_vars=5, max_rows=1), st.randoms(use_true_random=False))
def test_an_answer_is_that_of_the_joint_table(case, random):
    network, (row,) = case
    probability = oracle.evidence_probability(*plain(network), row)
    free = [v for v, code in enumerate(row) if code is None]
    assume(probability > 0 and free)
    evidence = labelled(network, row)
    random.shuffle(free)
    targets = [network.names[v] for v in free]
    answer = bm.query(network, targets, given=evidence, joint=True)
    assert answer.probability == pytest.approx(probability)
    assert answer.targets == tuple(targets)
    for v, name in zip(free, targets, strict=True):
        expected = oracle.hole_posterior(*plain(network), row, v)
        found = list(answer.distributions[name].values())
        assert found == pytest.approx(expected, abs=1e-9)
        assert tuple(answer.distributions[name]) == network.states[v]
    joint = oracle.joint_posterior(*plain(network), row, free)
    assert answer.joint.ravel() == pytest.approx([*joint.values()], abs=1e-9)
    bar = max(joint.values()) * (1 - 1e-9)
    best = next(states for states, p in joint.items() if p >= bar)
    labels = [network.states[v][k] for v, k in zip(free, best, strict=True)]
    assert answer.most_probable[0] == tuple(labels)


@given(networks_with_holes(max_vars=5, max_rows=1))
@examples(20, suppress_health_check=[HealthCheck.filter_too_much])
def test_the_conflict_named_is_impossible_and_no_smaller_one_is(case):
    network, (row,) = case
    assume(oracle.evidence_probability(*plain(network), row) == 0)
    with pytest.raises(InferenceError) as error:
        bm.query(network, given=labelled(network, row))
    shown = str(error.value).split("impossible: ")[1].split(" has probability")[0]
    pairs = dict(part.split("=") for part in shown.split(", "))
    named = [network.names.index(name) for name in pairs if name != "..."]
    conflict = [code if v in named else None for v, code in enumerate(row)]
    assert oracle.evidence_probability(*plain(network), conflict) == 0
    for v in named:
        less = [None if k == v else code for k, code in enumerate(conflict)]
        assert oracle.evidence_probability(*plain(network), less) > 0


def test_every_free_variable_is_a_target_by_default():
    asia = bm.load_network("asia")
    answer = bm.query(asia, given={"smoke": "no", "asia": "yes"})
    assert answer.targets == tuple(n for n in asia.names if n not in ("smoke", "asia"))
    assert answer.given == {"asia": "yes", "smoke": "no"}
    assert bm.query(asia).probability == pytest.approx(1)


def test_complete_evidence_leaves_its_probability():
    asia = bm.load_network("asia")
    data = asia.sample(1, seed=1)
    evidence = labelled(asia, data.codes[0].tolist())
    answer = bm.query(asia, given=evidence)
    assert answer.distributions == {}
    assert answer.log_probability == pytest.approx(asia.log_likelihood(data)[0])


def test_evidence_below_all_numbers_is_shown_and_not_all_of_it():
    names = ["c", *(f"x{i}" for i in range(80))]
    dag = bm.Dag.from_arcs(names, [("c", x) for x in names[1:]])
    leaf = np.array([[1 - 1e-5, 1e-5], [0.5, 0.5]])
    network = bm.Network(
        dag, [("n", "y")] * len(names), [np.array([[1.0, 0.0]]), *[leaf] * 80]
    )
    answer = bm.query(network, "c", given=dict.fromkeys(names[1:], "y"))
    assert answer.probability == 0.0
    shown = str(answer)
    assert shown.startswith("given x0=y, x1=y, ")
    assert "x19=y and 60 more (probability 1.00e-400)" in shown


def test_labels_may_differ_in_type():
    lucas = bm.load_network("lucas")
    assert all(isinstance(label, str) for label in lucas.states[0])
    as_text = bm.query(lucas, "Smoking", given={"Coughing": "1"})
    as_number = bm.query(lucas, "Smoking", given={"Coughing": 1})
    assert as_text.distributions == as_number.distributions
    assert as_number.given == {"Coughing": "1"}


def test_evidence_may_be_too_rare_for_a_float():
    n_vars = 400
    dag = bm.Dag.from_arcs([f"x{k}" for k in range(n_vars)])
    network = bm.Network(dag, ((0, 1),) * n_vars, ([[0.001, 0.999]],) * n_vars)
    given = {f"x{k}": 0 for k in range(1, n_vars)}
    answer = bm.query(network, "x0", given=given)
    assert answer.probability == 0.0
    assert answer.log_probability == pytest.approx((n_vars - 1) * math.log(0.001))
    assert answer.distributions["x0"][1] == pytest.approx(0.999)


def test_weighting_gives_errors_and_the_same_numbers_for_any_threads():
    asia = bm.load_network("asia")
    options = {"given": {"xray": "yes"}, "inference": "weighting", "seed": 1}
    exact = bm.query(asia, "lung", given={"xray": "yes"})
    one = bm.query(asia, "lung", **options, n_threads=1)
    many = bm.query(asia, "lung", **options, n_threads=7)
    assert one.distributions == many.distributions
    assert one.probability == many.probability
    distance = one.distributions["lung"]["yes"] - exact.distributions["lung"]["yes"]
    assert abs(distance) < 5 * one.errors["lung"]["yes"] < 0.05
    assert 1000 < one.effective_samples < 100_000
    assert exact.errors is exact.effective_samples is None


def test_answers_are_plain_for_json():
    asia = bm.load_network("asia")
    answer = bm.query(asia, "tub", given={"asia": "yes"}, joint=True)
    assert answer.to_dict() == {
        "given": {"asia": "yes"},
        "probability": pytest.approx(0.01),
        "log_probability": pytest.approx(math.log(0.01)),
        "targets": [
            {
                "variable": "tub",
                "distribution": [
                    {"state": "yes", "probability": pytest.approx(0.05), "error": None},
                    {"state": "no", "probability": pytest.approx(0.95), "error": None},
                ],
            }
        ],
        "joint": [
            {"states": ["yes"], "probability": pytest.approx(0.05), "error": None},
            {"states": ["no"], "probability": pytest.approx(0.95), "error": None},
        ],
        "most_probable": {"states": ["no"], "probability": pytest.approx(0.95)},
        "inference": "exact",
        "effective_samples": None,
    }
    assert repr(answer).splitlines() == [
        "given asia=yes (probability 0.010000)",
        "",
        "tub  yes  0.050000",
        "     no   0.950000",
        "",
        "tub  together",
        "yes  0.050000",
        "no   0.950000",
    ]
    assert bm.query(asia, "tub").most_probable is None


def test_an_answer_prints_its_numbers():
    asia = bm.load_network("asia")
    assert str(bm.query(asia, "asia")) == "asia  yes  0.010000\n      no   0.990000"
    everything = dict.fromkeys(asia.names, "yes")
    assert str(bm.query(asia, given=everything)).startswith("given asia=yes, ")
    options = {"inference": "weighting", "n_samples": 1000, "seed": 1}
    lines = str(bm.query(asia, "tub", given={"asia": "yes"}, **options)).splitlines()
    assert " ± 0.00" in lines[2]
    assert lines[-1] == "as good as 1,000 unweighted samples"


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"targets": "lungs"}, DataError, r"no variable named 'lungs'. Available: asi"),
        ({"given": {"x": "yes"}}, DataError, r"no variable named 'x'. Available: asia"),
        (
            {"given": {"smoke": "often"}},
            DataError,
            r"variable 'smoke' has no state 'often'. Its states: yes, no.",
        ),
        (
            {"targets": ["smoke"], "given": {"smoke": "yes"}},
            ParameterError,
            r"variable 'smoke' is both a target and given. Name it in one.",
        ),
        (
            {"targets": ["smoke", "smoke"]},
            ParameterError,
            r"variable 'smoke' is a target twice. Name it once.",
        ),
        (
            {"joint": np.ones(2)},
            ParameterError,
            r"joint must be True or False",
        ),
        (
            {"targets": [], "joint": True},
            ParameterError,
            r"joint=True needs a target",
        ),
        (
            {"given": {"either": "no", "tub": "yes", "smoke": "yes"}},
            InferenceError,
            r"the evidence is impossible: tub=yes, either=no has probability zero. Gi",
        ),
        (
            {"given": {"smoke": ["yes"]}},
            ParameterError,
            r"given must hold one state of 'smoke'. Got \['yes'\] instead.",
        ),
        (
            {"given": ["smoke"]},
            ParameterError,
            r"given must map names of variables to states. Got \['smoke'\] instead.",
        ),
        (
            {"targets": 3},
            ParameterError,
            r"targets must be the name of a variable or a list of names. Got 3 instead",
        ),
        (
            {"inference": "magic"},
            ParameterError,
            r"inference must be one of exact",
        ),
    ],
)
def test_what_cannot_be_asked_is_refused(options, error, message):
    with pytest.raises(error, match=message):
        bm.query(bm.load_network("asia"), **options)


def test_a_joint_table_too_large_is_refused():
    network = bm.Network(
        bm.Dag.from_arcs([f"x{k}" for k in range(60)]),
        ((0, 1),) * 60,
        ([[0.5, 0.5]],) * 60,
    )
    message = r"a table of 1.15e\+18 entries \(9.22e\+06 TB\) over 60 variables"
    with pytest.raises(InferenceError, match=message):
        bm.query(network, joint=True)


def test_a_joint_table_of_several_parts_is_their_product():
    network = chains(7, 2)
    names = ["x5", "x0", "x3", "x2", "x1"]
    found = bm.query(network, names, given={"x6": 1}, joint=True)
    odd = bm.query(network, ["x5", "x3", "x1"], joint=True).joint
    even = bm.query(network, ["x0", "x2"], given={"x6": 1}, joint=True).joint
    np.testing.assert_allclose(found.joint, np.einsum("abc,de->adbec", odd, even))
    best, p = found.most_probable
    assert p == found.joint.max() == found.joint[best]
    items = dict(found.joint_items())
    assert items == {at: found.joint[at] for at in np.ndindex(found.joint.shape)}


MEASURE = """
import sys
import bayesmend as bm
from support.networks import chains

def peak():
    lines = open("/proc/self/status").read().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if "VmHWM" in line)

network = chains(22, int(sys.argv[1]))
bm.query(network, ["x0", "x1"], joint=True).most_probable
before = peak()
bm.query(network, joint=True, max_memory=int(sys.argv[2])).most_probable
print(peak() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="Linux tells the peak of a run")
@pytest.mark.parametrize("n_chains", [1, 2])
def test_a_joint_table_takes_no_more_memory_than_allowed(n_chains):
    size = 8 * 2**22
    # A single chain is worked out in a table of its own.
    allowed = int((1.01 if n_chains == 2 else 2.01) * size)
    command = [sys.executable, "-c", MEASURE, str(n_chains), str(allowed)]
    here = ROOT / "tests"
    run = subprocess.run(command, capture_output=True, text=True, check=True, cwd=here)
    # A mask of bytes finds the most probable states.
    assert size <= int(run.stdout) < allowed + 0.25 * size
    with pytest.raises(InferenceError, match="a table of 4,194,304 entries"):
        bm.query(chains(22, n_chains), joint=True, max_memory=0.98 * allowed)


@pytest.mark.slow
def test_few_targets_of_a_wide_grid_are_answered():
    network = grid(30)
    answer = bm.query(network, "g1_1", given={"g0_0": 0})
    assert sum(answer.distributions["g1_1"].values()) == pytest.approx(1)
    with pytest.raises(InferenceError, match="or use inference='weighting'"):
        bm.query(network, "g29_29")
    near = bm.query(network, "g1_1", given={"g0_0": 0}, inference="weighting", seed=1)
    found, wanted = near.distributions["g1_1"][0], answer.distributions["g1_1"][0]
    assert np.isclose(found, wanted, atol=5 * near.errors["g1_1"][0])


def test_a_number_with_a_decimal_comma_is_told_to_take_a_point():
    table = {"sbp": [100 + k / 2 for k in range(60)], "ill": ["no", "no", "yes"] * 20}
    network = bm.learn(table, discretize={"sbp": [110, 120]}).network
    with pytest.raises(DataError) as caught:
        bm.query(network, "ill", given={"sbp": "115,3"})
    assert str(caught.value) == (
        "variable 'sbp' has no state '115,3'. Its states: <=110, 110<x<=120, >120."
        " Numbers take a decimal point: write 115.3."
    )
    with pytest.raises(DataError, match=r">120\.$"):
        bm.query(network, "ill", given={"sbp": "1,15,3"})
