"""Constraints: what they allow, and the message for each that cannot hold."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import oracle

from bayesmend import (
    Constraints,
    Dag,
    hide_mcar,
    learn,
    learn_em,
    learn_exact,
    learn_local,
    learn_structure,
    load_network,
)
from bayesmend.errors import ParameterError
from bayesmend.structure import candidate_parents, climb

NAMES = ("a", "b", "c", "d")


def rules_of(max_parents=3, **options):
    return Constraints(**options).rules(NAMES, max_parents=max_parents)


def refused(match, **options):
    with pytest.raises(ParameterError, match=match):
        rules_of(**options)


def test_without_constraints_every_other_variable_is_a_possible_parent():
    rules = rules_of()
    assert rules.allowed.tolist() == (1 - np.eye(4, dtype=int)).tolist()
    assert not rules.required.any()
    assert rules.limit.tolist() == [3, 3, 3, 3]


def test_a_limit_never_exceeds_the_number_of_other_variables():
    assert rules_of(max_parents=99).limit.tolist() == [3, 3, 3, 3]


def test_a_forbidden_arc_leaves_the_other_direction_free():
    allowed = rules_of(forbidden=[("a", "b")]).allowed
    assert (allowed[1, 0], allowed[0, 1]) == (0, 1)


def test_no_arc_leads_from_a_later_tier_to_an_earlier_one():
    allowed = rules_of(tiers=[["c", "a"], ["b"]]).allowed
    assert (allowed[0, 1], allowed[2, 1]) == (0, 0)
    assert (allowed[1, 0], allowed[1, 2]) == (1, 1)  # forward
    assert (allowed[0, 2], allowed[2, 0]) == (1, 1)  # within a tier


def test_a_variable_in_no_tier_is_free():
    allowed = rules_of(tiers=[["a"], ["b"], ["c"]]).allowed
    assert allowed[3].tolist() == [1, 1, 1, 0]
    assert allowed[:3, 3].tolist() == [1, 1, 1]


def test_single_limits_lower_the_general_one_and_never_raise_it():
    limit = rules_of_limits({"a": 0, "b": 3}, general=2)
    assert limit.tolist() == [0, 2, 2, 2]


def rules_of_limits(limits, general):
    return Constraints(max_parents=limits).rules(NAMES, max_parents=general).limit


def test_iterators_serve_more_than_once():
    known = Constraints(required=iter([("a", "b")]))
    first, second = (known.rules(NAMES, max_parents=1) for _ in range(2))
    assert first.required.tolist() == second.required.tolist()
    assert first.required[1, 0] == 1


def test_rules_for_no_variables_are_empty():
    rules = Constraints().rules((), max_parents=3)
    assert rules.allowed.shape == (0, 0)
    assert rules.limit.shape == (0,)


@given(st.sets(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=8), st.data())
def test_holds_says_whether_a_dag_keeps_the_rules(arcs, draw):
    arcs = {(p, c) for p, c in arcs if p < c}
    pairs = st.sets(st.sampled_from([(p, c) for p in range(4) for c in range(4)]))
    forbidden = {(p, c) for p, c in draw.draw(pairs) if p != c}
    required = {(p, c) for p, c in draw.draw(pairs) if p < c} - forbidden
    named = Constraints(
        required=[(NAMES[p], NAMES[c]) for p, c in required],
        forbidden=[(NAMES[p], NAMES[c]) for p, c in forbidden],
        max_parents={"d": 3},
    )
    rules = named.rules(NAMES, max_parents=3)
    dag = Dag.from_arcs(NAMES, arcs)
    assert oracle.is_acyclic(4, arcs)
    assert rules.holds(dag) == (required <= arcs and not forbidden & arcs)


def test_too_many_parents_break_the_rules():
    dag = Dag.from_arcs(NAMES, [("a", "c"), ("b", "c")])
    assert not rules_of(max_parents=1).holds(dag)
    assert rules_of(max_parents=2).holds(dag)


# --- messages -------------------------------------------------------------------------


@pytest.mark.parametrize("part", ["required", "forbidden"])
def test_an_unknown_name_in_an_arc_is_named(part):
    refused(rf"{part} names 'x', .* Available: a, b, c, d\.", **{part: [("a", "x")]})


@pytest.mark.parametrize("part", ["required", "forbidden"])
@pytest.mark.parametrize("arc", [("a",), ("a", "b", "c")])
def test_an_arc_is_a_pair(part, arc):
    refused(rf"{part} must hold \(parent, child\) pairs\. Got", **{part: [arc]})


@pytest.mark.parametrize("part", ["required", "forbidden"])
@pytest.mark.parametrize("arc", ["ab", 3])
def test_text_is_no_pair(part, arc):
    refused(rf"{part} must hold \(parent, child\) pairs\. Got {arc!r}", **{part: [arc]})


def test_text_is_no_tier():
    refused(r"tiers must hold groups of names\. Got 'ab' instead\.", tiers=["ab"])


@pytest.mark.parametrize("part", ["required", "forbidden"])
def test_no_arc_leads_to_itself(part):
    refused(f"{part} holds an arc from 'a' to itself", **{part: [("a", "a")]})


def test_an_unknown_name_in_a_tier_is_named():
    refused("tiers names 'x', which is no variable", tiers=[["a", "x"]])


def test_a_variable_is_in_one_tier():
    refused("variable 'a' is in two tiers", tiers=[["a"], ["b", "a"]])


def test_an_unknown_name_in_the_limits_is_named():
    with pytest.raises(ParameterError, match="max_parents names 'x'"):
        rules_of_limits({"x": 1}, general=2)


@pytest.mark.parametrize("value", [-1, 1.5, True, "2", None])
def test_the_general_limit_is_an_integer(value):
    refused(
        f"max_parents must be an integer >= 0. Got {value!r} instead", max_parents=value
    )


def test_a_single_limit_is_an_integer():
    with pytest.raises(ParameterError, match="max_parents of 'a' must be an integer"):
        rules_of_limits({"a": -1}, general=2)


def test_an_arc_both_required_and_forbidden_is_named():
    refused(
        r"arc a -> b is required, but it is in forbidden\. Drop one of the two",
        required=[("a", "b")],
        forbidden=[("a", "b")],
    )


def test_a_required_arc_against_the_tiers_is_named():
    refused(
        r"arc b -> a is required, but the tiers forbid it",
        required=[("b", "a")],
        tiers=[["a"], ["b"]],
    )


def test_more_required_parents_than_allowed_are_named():
    refused(
        r"arcs give 'c' the parents a, b, but it may have at most 1\.",
        required=[("a", "c"), ("b", "c")],
        max_parents=1,
    )


def test_required_arcs_in_a_cycle_are_named():
    refused(
        "the required arcs contradict each other: .*a -> b -> c -> a",
        required=[("a", "b"), ("b", "c"), ("c", "a")],
    )


# Given as a mapping.


def test_a_mapping_names_the_parts():
    parts = {
        "required": [("a", "b")],
        "forbidden": [("b", "c")],
        "tiers": [["a"], ["b", "c"]],
        "max_parents": {"c": 1},
    }
    assert Constraints.of(parts) == Constraints(**parts)
    assert Constraints.of(None) == Constraints.of({}) == Constraints()
    known = Constraints(**parts)
    assert Constraints.of(known) is known


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("forbiden", "Did you mean forbidden?"),
        ("blacklist", "It is called forbidden here."),
        ("whitelist", "It is called required here."),
        ("max_indegree", "It is called max_parents here."),
        ("colour", "Available: required, forbidden, tiers, max_parents."),
        (3, "Available: required, forbidden, tiers, max_parents."),
    ],
)
def test_an_unknown_part_is_answered_with_the_nearest(name, hint):
    message = f"constraints have no part {name!r}. {hint}"
    with pytest.raises(ParameterError, match=f"^{re.escape(message)}$"):
        Constraints.of({name: []})


def test_what_is_no_mapping_is_refused():
    with pytest.raises(ParameterError, match=r"constraints must be a Constraints, or"):
        Constraints.of([("a", "b")])


LEARNERS = {
    "auto": learn,
    "exact": learn_exact,
    "local": learn_local,
    "order": lambda data, **options: learn_local(data, solver="order", **options),
    "em": lambda data, **options: learn_em(data, restarts=0, **options),
}


@pytest.mark.parametrize("run", LEARNERS.values(), ids=LEARNERS)
def test_learning_takes_a_mapping_whose_lists_serve_once(run):
    data = hide_mcar(load_network("asia").sample(60, seed=1), 0.02, seed=1).data
    known = {"forbidden": iter([("smoke", "bronc"), ("bronc", "smoke")])}
    arcs = run(data, constraints=known, seed=1).dag.arcs
    assert not {("smoke", "bronc"), ("bronc", "smoke")} & set(arcs)


def test_learning_from_complete_data_takes_a_mapping():
    data = load_network("asia").sample(60, seed=1)
    known = {"required": [("asia", "dysp")], "max_parents": {"dysp": 1}}
    dysp = data.index("dysp")
    for run in (learn_structure, climb):
        assert run(data, constraints=known).dag.parents[dysp] == (data.index("asia"),)
    sets = candidate_parents(data, constraints=known).of(dysp)
    assert {members for _, members in sets} == {(data.index("asia"),)}
