"""Exact inference where states are farther from each other than numbers reach."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support import oracle
from support.examples import examples
from support.networks import Case, flat, plain, table

import bayesmend as bm
from bayesmend.score import Score

SMALL = (0.0, 5e-324, 1e-300, 1e-250, 1e-200, 1e-150, 1e-100, 1e-30, 0.3, 0.5)


def unlikely(seed, n_hidden):
    """A network of hidden binary variables, most of them with a witness; its row."""
    rng = np.random.default_rng(seed)
    names = [f"h{k}" for k in range(n_hidden)]
    arcs = []
    for k in range(1, n_hidden):
        reach = range(max(0, k - 3), k)
        parents = rng.choice(reach, min(len(reach), rng.integers(1, 3)), replace=False)
        arcs += [(f"h{p}", f"h{k}") for p in parents]
    witnesses = [k for k in range(n_hidden) if rng.random() < 0.8]
    arcs += [(f"h{k}", f"e{k}") for k in witnesses]
    dag = bm.Dag.from_arcs([*names, *(f"e{k}" for k in witnesses)], arcs)
    smallest = rng.integers(len(SMALL) - 1)
    cpts = []
    for parents in dag.parents:
        p = rng.choice(SMALL[smallest:], 2 ** len(parents))
        p = np.stack([p, 1 - p], axis=1)
        cpts.append(np.where(rng.random((len(p), 1)) < 0.5, p, p[:, ::-1]))
    network = bm.Network(dag, (("0", "1"),) * len(dag.names), tuple(cpts))
    row = [None] * n_hidden + rng.integers(0, 2, len(witnesses)).tolist()
    return network, row


def case(seed, n_hidden=8):
    """Also what the oracle says of the row; another seed if it is impossible."""
    while True:
        network, row = unlikely(seed, n_hidden)
        logs = oracle.log_completions(*plain(network), row)
        if max(logs.values()) > -np.inf:
            return network, row, logs
        seed += 1_000_003


@given(st.integers(0, 2**32))
@example(60)
@example(246)
@examples(15)
def test_answers_are_those_of_logarithms(seed):
    network, row, logs = case(seed)
    data = table(network, [row])
    total = oracle.log_sum(logs.values())
    assert bm.log_evidence(network, data)[0] == pytest.approx(total, rel=1e-9, abs=1e-9)
    found = bm.marginals(network, data)
    for v, code in enumerate(row):
        if code is not None:
            continue
        expected = [
            np.exp(oracle.log_sum(p for f, p in logs.items() if f[v] == s) - total)
            for s in range(2)
        ]
        got = found.of(network.names[v])[1].ravel()
        np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-150)


@given(st.integers(0, 2**32))
@examples(15)
def test_the_best_completion_is_that_of_logarithms(seed):
    network, row, logs = case(seed)
    found = bm.most_probable(network, table(network, [row]))
    best = max(logs.values())
    first = next(full for full, p in logs.items() if p >= best - 1e-9)
    assert tuple(found.completed.codes[0].tolist()) == first
    assert found.log_probability[0] == pytest.approx(best, rel=1e-9, abs=1e-9)


@given(st.integers(0, 2**32))
@examples(8)
def test_the_joint_distribution_is_that_of_logarithms(seed):
    network, row, logs = case(seed)
    total = oracle.log_sum(logs.values())
    evidence = {
        name: str(code)
        for name, code in zip(network.names, row, strict=True)
        if code is not None
    }
    found = bm.query(network, ["h1", "h7"], given=evidence, joint=True).joint
    for states in np.ndindex(2, 2):
        chosen = (p for full, p in logs.items() if (full[1], full[7]) == states)
        expected = np.exp(oracle.log_sum(chosen) - total)
        assert found[states] == pytest.approx(expected, rel=1e-6, abs=1e-150)


@given(st.integers(0, 2**32))
@examples(8)
def test_draws_are_as_frequent_as_by_logarithms(seed):
    network, row, logs = case(seed)
    total = oracle.log_sum(logs.values())
    drawn = bm.draw_completions(network, table(network, [row]), n_draws=400, seed=seed)
    codes = np.array([one.codes[0] for one in drawn])
    for v in range(8):
        p = np.exp(oracle.log_sum(q for f, q in logs.items() if f[v] == 1) - total)
        spread = np.sqrt(p * (1 - p) / 400)
        assert abs(codes[:, v].mean() - p) <= 6 * spread + 1 / 400


@pytest.mark.parametrize(("n_hidden", "seed"), [(8, 60), (8, 246), (13, 1)])
def test_expected_counts_are_those_of_logarithms(n_hidden, seed):
    # More than 4,096 joint states are counted clique by clique.
    network, row, logs = case(seed, n_hidden)
    total = oracle.log_sum(logs.values())
    shares = {full: np.exp(p - total) for full, p in logs.items() if p > total - 300}
    expected = [
        oracle.family_counts([*shares], network.card, i, parents, [*shares.values()])
        for i, parents in enumerate(network.dag.parents)
    ]
    rows, holes = Case(network, [row], None).compiled()
    cpts = flat(network.cpts)
    found = holes.expect(cpts, 1)
    np.testing.assert_allclose(found.counts, flat(expected), atol=1e-9)
    assert found.log_likelihood == pytest.approx(total, rel=1e-9)
    parents = network.dag.parents
    ends = np.cumsum([0, *map(len, parents)]).astype(np.int64)
    flat_parents = np.array([p for each in parents for p in each], np.int32)
    scorer = rows.scorer(holes, cpts, Score("loglik"))
    counts = scorer.core.expected_counts(ends, flat_parents)
    np.testing.assert_allclose(counts, flat(expected), atol=1e-9)


def test_a_chain_far_below_all_numbers_has_an_answer():
    names = [*(f"h{k}" for k in range(30)), *(f"e{k}" for k in range(30))]
    arcs = [(f"h{k}", f"h{k + 1}") for k in range(29)]
    dag = bm.Dag.from_arcs(names, arcs + [(f"h{k}", f"e{k}") for k in range(30)])
    stay, show = ([[1 - p, p], [p, 1 - p]] for p in (1e-150, 1e-200))
    cpts = ([[0.5, 0.5]], *[stay] * 29, *[show] * 30)
    network = bm.Network(dag, (("0", "1"),) * 60, cpts)
    row = [None] * 30 + [k % 2 for k in range(30)]
    found = bm.marginals(network, table(network, [row]))
    # Logarithms by the last state, forward along the chain.
    total = {s: np.log(0.5) + np.log(show[s][0]) for s in range(2)}
    for k in range(1, 30):
        total = {
            s: oracle.log_sum(total[r] + np.log(stay[r][s]) for r in range(2))
            + np.log(show[s][k % 2])
            for s in range(2)
        }
    evidence = oracle.log_sum(total.values())
    assert bm.log_evidence(network, table(network, [row]))[0] == pytest.approx(evidence)
    last = [np.exp(total[s] - evidence) for s in range(2)]
    np.testing.assert_allclose(found.of("h29")[1].ravel(), last, rtol=1e-9)
