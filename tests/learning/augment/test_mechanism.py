"""Completions under a mechanism: what it weighs, what is proven, what is refused."""

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest
from support import oracle
from support.pairs import pair_score
from support.strategies import holed_table, random_holes

import bayesmend as bm
from bayesmend.data.states import MISSING
from bayesmend.errors import InferenceError, ParameterError
from bayesmend.graph.constraints import Constraints
from bayesmend.learning.augment import mechanism as module
from bayesmend.learning.augment.mechanism import terms_of
from bayesmend.learning.augment.problem import PatternProblem
from bayesmend.network.mechanism import Mechanism
from bayesmend.outcome import Stopped
from bayesmend.report.words import certificate
from bayesmend.score import Score

pytestmark = pytest.mark.filterwarnings("ignore::bayesmend.errors.SupportWarning")

ASIA = bm.load_network("asia")
# Three copies of a coin that nobody sees without error.
COPIES = bm.Network(
    bm.Dag.from_arcs("abc", [("a", "b"), ("a", "c")]),
    (("no", "yes"),) * 3,
    ([[0.5, 0.5]], *([[[0.9, 0.1], [0.1, 0.9]]] * 2)),
)


def hide(rows, cells):
    """Hide the cells of variables in given rows."""
    codes = rows.codes.copy(order="F")
    for name, which in cells.items():
        codes[which, rows.index(name)] = MISSING
    return rows.with_codes(codes)


def self_masked(n_rows=150, odds=0.15, seed=3):
    """Copies, of which a is hidden where it is "yes", and c at random."""
    rows = COPIES.sample(n_rows, seed=seed)
    chance = np.random.default_rng(seed).random((2, n_rows))
    of_a = (rows.codes[:, 0] == 1) & (chance[0] < odds)
    return rows, hide(rows, {"a": of_a, "c": chance[1] < odds / 5})


def whys_of(result):
    """The mechanism as the oracle has it, by position."""
    rule, place = result.network.mechanism, result.network.dag.names.index
    return {
        place(name): ([place(p) for p in parents], cpt.tolist())
        for name, parents, cpt in zip(
            rule.variables, rule.parents, rule.cpts, strict=True
        )
    }


def plain_rows(data):
    return [
        [None if code == MISSING else code for code in row]
        for row in data.codes.tolist()
    ]


# --- what is weighed ------------------------------------------------------------------


def random_whys(rows, card, rng):
    """Parents and tables of the indicators; no two parents missing in one row."""
    whys = {}
    for v in range(len(card)):
        column = [row[v] is None for row in rows]
        parents = rng.permutation(len(card))[: rng.integers(0, 4)].tolist()
        if all(column) or not any(column):
            continue
        while any(sum(row[p] is None for p in parents) > 1 for row in rows):
            parents.pop()
        share = rng.uniform(0.05, 0.95, int(np.prod([card[p] for p in parents])))
        whys[v] = parents, np.stack([1 - share, share], axis=1)
    return whys


def test_terms_tell_completions_apart_as_the_indicators_do():
    n_compared = n_many = 0
    for seed in range(300):
        rows, card = random_holes(seed)
        rng = np.random.default_rng([seed, 2])
        data = holed_table(rows, card)
        problem = PatternProblem.of(
            data, score=Score("bdeu"), max_parents=1, constraints=Constraints()
        )
        whys = random_whys(rows, card, rng)
        rule = Mechanism(
            tuple(data.names[v] for v in whys),
            tuple(tuple(data.names[p] for p in ps) for ps, _ in whys.values()),
            tuple(cpt for _, cpt in whys.values()),
        )
        under = replace(problem, terms=terms_of(problem, rule))
        found = []
        for _ in range(2):
            states = rng.integers(0, data.card[problem.variable]).astype(np.uint8)
            completed = problem.completed(states).codes.tolist()
            logs = oracle.log_indicators(rows, card, completed, whys)
            found.append(under.worth(states) - logs)
        assert found[0] == pytest.approx(found[1], abs=1e-9)
        n_compared += under.terms is not None
        n_many += any(len(parents) > 1 for parents, _ in whys.values())
    assert n_compared > 100
    assert n_many > 50


@pytest.mark.parametrize("method", ["exact", "local"])
def test_the_score_is_that_of_the_network_and_of_the_mechanism(method):
    _, data = self_masked()
    result = bm.learn(data, method=method, mechanism="auto", seed=1)
    detail, completed = result.detail, result.completed
    assert result.score == pytest.approx(
        detail["network_score"] + detail["mechanism_score"]
    )
    plain = pair_score(data, result.dag, completed, Score("bdeu"))
    assert detail["network_score"] == pytest.approx(plain)
    assert result.mechanism.of("a").label == "depends on hidden values"
    # Of the indicators, those count that depend on a filled cell.
    logs = sum(
        oracle.log_indicators([row], [2] * 3, [filled], {v: why})
        for row, filled in zip(plain_rows(data), completed.codes.tolist(), strict=True)
        for v, why in whys_of(result).items()
        if any(row[p] is None for p in why[0])
    )
    assert detail["mechanism_score"] == pytest.approx(logs)


def test_the_optimum_under_the_mechanism_is_that_of_enumeration():
    rows, data = self_masked(50, odds=0.25, seed=5)
    result = bm.learn_exact(data, mechanism="self", seed=1)
    assert result.status == "optimal given the mechanism"
    assert 0 < len(result.cells) < 14
    whys, plain = whys_of(result), plain_rows(data)
    assert all(parents == [v] for v, (parents, _) in whys.items())
    terms = {
        (u, v): [float(np.log(whys[v][1][state][1])) for state in range(2)]
        for u, v in oracle.missing_cells(plain)
    }
    support = Score("bdeu").support
    best, _, _ = oracle.best_pair(
        plain, [2] * 3, 3, "bdeu", support=support, terms=terms
    )
    assert result.score == pytest.approx(best, abs=1e-6)
    blind = bm.learn_exact(data, seed=1)
    truth = rows.codes[data.missing_mask]
    right = [(r.completed.codes[data.missing_mask] == truth) for r in (result, blind)]
    assert right[0].mean() >= right[1].mean()


def test_cells_hidden_for_what_they_hold_are_found_again():
    hidden = bm.hide_mnar(ASIA.sample(300, seed=1), 0.1, strength=2, seed=1)
    found = [
        hidden.accuracy(bm.learn_local(hidden.data, mechanism=m, seed=1).completed)
        for m in ("ignore", "self")
    ]
    assert found[1] > found[0] + 0.02


def test_row_weights_stand_for_rows():
    _, data = self_masked(80)
    codes, counts = np.unique(data.codes, axis=0, return_counts=True)
    weighted = bm.IncompleteData.from_codes(
        codes, names=data.names, states=data.states, weights=counts
    )
    one, other = (bm.learn_exact(d, mechanism="self", seed=1) for d in (data, weighted))
    assert one.score == pytest.approx(other.score, abs=1e-5)


def test_constraints_bind_the_mechanism_and_the_search():
    _, data = self_masked()
    rules = {"forbidden": [("a", "b"), ("b", "a")]}
    result = bm.learn_exact(data, mechanism="self", constraints=rules, seed=1)
    assert not {("a", "b"), ("b", "a")} & set(result.dag.arcs)
    assert result.network.mechanism is not None


def test_the_answer_does_not_depend_on_the_threads():
    _, data = self_masked()
    one, two = (
        bm.learn_exact(data, mechanism="auto", seed=1, n_threads=n) for n in (1, 2)
    )
    assert one.score == two.score
    assert one.completed == two.completed
    assert one.network == two.network


# --- what is told ---------------------------------------------------------------------


@pytest.mark.parametrize("method", ["exact", "local"])
def test_nothing_found_leaves_the_answer_as_it_is(method):
    rows = COPIES.sample(200, seed=1)
    rng = np.random.default_rng(1)
    data = hide(rows, {name: rng.random(200) < 0.03 for name in "abc"})
    blind, auto = (
        bm.learn(data, method=method, mechanism=m, seed=1) for m in ("ignore", "auto")
    )
    assert auto.mechanism.is_innocent
    assert blind.mechanism is None
    assert auto.status == blind.status
    assert auto.score == blind.score
    assert auto.bound == blind.bound
    assert auto.network == blind.network
    assert auto.completed == blind.completed
    assert "mechanism_score" not in auto.detail


def test_what_is_proven_holds_given_the_mechanism():
    _, data = self_masked(80)
    exact = bm.learn_exact(data, mechanism="self", seed=1)
    assert exact.status == "optimal given the mechanism"
    assert certificate(exact).startswith("No structure with any completion")
    assert "This holds given the mechanism" in certificate(exact)
    local = bm.learn_local(data, mechanism="self", seed=1)
    assert local.status == "1-local optimum given the mechanism"
    assert "This holds given the mechanism" in certificate(local)
    em = bm.learn_em(data, mechanism="self", seed=1)
    assert em.status == "local optimum"
    # The mechanism is that of EM, and the network remembers it.
    assert exact.mechanism.of("a").parents == ("a",)
    assert exact.network.mechanism == local.network.mechanism
    assert bm.query(exact.network, "a", given={"missing_a": "missing"})


def test_a_complete_table_has_no_mechanism_to_learn():
    result = bm.learn_exact(COPIES.sample(50, seed=1), mechanism="auto", seed=1)
    assert len(result.mechanism) == 0
    assert result.status == "optimal"


def test_structures_found_by_other_solvers_count_the_mechanism_too():
    _, data = self_masked(80)
    order = bm.learn_local(data, mechanism="self", solver="order", restarts=2, seed=1)
    best = bm.learn_exact(data, mechanism="self", seed=1)
    assert order.status == "local optimum given the mechanism"
    assert order.detail["mechanism_score"] < 0
    assert order.score <= best.bound + 1e-6
    scores = [step.score for step in order.trace]
    assert scores == sorted(scores)
    assert scores[-1] == pytest.approx(order.score)


# --- what is refused, and limits ------------------------------------------------------


def test_two_parents_that_are_missing_together_are_refused():
    rows = COPIES.sample(60, seed=1)
    data = hide(rows, {"a": [1, 2, 3], "b": [3, 4], "c": [5]})
    for given in ({"c": ["a", "b"]}, {"a": ["a", "b"]}):
        for learn in (bm.learn_exact, bm.learn_local):
            with pytest.raises(ParameterError, match="method='em'") as raised:
                learn(data, mechanism=given)
            assert "of which more than one is missing in 1 row." in str(raised.value)
    fine = hide(rows, {"a": [1, 2, 3], "c": [5]})
    result = bm.learn_exact(fine, mechanism={"a": ["a", "b"]}, seed=1)
    assert result.mechanism.of("a").parents == ("a", "b")


def test_where_two_are_missing_together_auto_takes_one(monkeypatch):
    _, data = self_masked()
    both = hide(data, {"a": [0, 1], "c": [0, 1]})
    asked = []

    def learn_em(table, *, mechanism, max_mechanism_parents, **how):
        asked.append(max_mechanism_parents)
        if max_mechanism_parents == 2:
            mechanism = {"a": ["a", "c"]}
        return bm.learn_em(
            table,
            mechanism=mechanism,
            max_mechanism_parents=max_mechanism_parents,
            **how,
        )

    monkeypatch.setattr(module, "learn_em", learn_em)
    result = bm.learn_exact(both, mechanism="auto", seed=1)
    assert asked == [2, 1]
    assert "one parent each" in result.detail["mechanism_note"]
    assert result.mechanism.of("a").parents == ("a",)
    assert result.status.endswith("given the mechanism")


@pytest.mark.parametrize("learn", [bm.learn_exact, bm.learn_local])
def test_ctrl_c_while_the_mechanism_is_learned_gives_what_em_has(monkeypatch, learn):
    _, data = self_masked()

    def learn_em(*arguments, **how):
        found = bm.learn_em(*arguments, **how)
        return replace(found, stopped=Stopped.INTERRUPT)

    monkeypatch.setattr(module, "learn_em", learn_em)
    result = learn(data, mechanism="self", seed=1)
    assert result.stopped is Stopped.INTERRUPT
    assert result.status == "stopped at interrupt"
    assert result.completed == bm.learn_em(data, mechanism="self", seed=1).completed


def test_without_the_memory_to_learn_it_auto_searches_without(monkeypatch):
    def learn_em(*_arguments, **_how):
        raise InferenceError("too much")

    monkeypatch.setattr(import_module("bayesmend.learning.learn"), "learn_em", learn_em)
    _, data = self_masked(60)
    result = bm.learn(data, mechanism="auto", seed=1)
    assert result.chosen.startswith("local: why cells are missing is learned by weigh")
    assert "exact inference does not fit into memory" in result.chosen
    assert result.mechanism is None


@pytest.mark.parametrize("learn", [bm.learn_exact, bm.learn_local])
def test_a_time_limit_holds_for_both_together(learn):
    hidden = bm.hide_mnar(ASIA.sample(300, seed=1), 0.3, strength=2, seed=1)
    result = learn(hidden.data, mechanism="auto", time_limit=0.3, seed=1)
    assert result.completed.is_complete
    assert result.seconds < 3.0


def test_a_mechanism_that_is_none_is_told_at_once():
    _, data = self_masked(20)
    with pytest.raises(ParameterError, match="mechanism must be 'ignore'"):
        bm.learn_exact(data, mechanism="slef")
    with pytest.raises(ParameterError, match="max_mechanism_parents must be an intege"):
        bm.learn_local(data, max_mechanism_parents=0)
