"""Posterior over structures against enumeration of all DAGs."""

from functools import cache

import numpy as np
import pytest
from support import oracle
from support.strategies import table_of
from support.timing import ctrl_c_after, within

from bayesmend import load_network
from bayesmend.errors import ConvergenceWarning, DataError, ParameterError
from bayesmend.graph import Constraints
from bayesmend.score import FamilyScorer
from bayesmend.structure import posterior, posterior_memory, structure_posterior


def random_rows(card, n_rows, seed):
    """Rows in which each variable takes after the one before."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(n_rows):
        row = []
        for v, states in enumerate(card):
            copied = v > 0 and rng.random() < 0.4
            row.append(row[-1] % states if copied else int(rng.integers(states)))
        rows.append(row)
    return rows


def family_of(data, **options):
    """The score of a family by indices."""
    scorer = FamilyScorer(data, **options)
    names = data.names
    return cache(
        lambda v, parents: scorer.family(names[v], [names[p] for p in parents])
    )


def asia(n_rows):
    return load_network("asia").sample(n_rows, seed=1)


@pytest.mark.parametrize("n_rows", [0, 5, 40, 400])
@pytest.mark.parametrize("n_vars", [1, 2, 3, 4])
def test_the_exact_posterior_is_that_of_all_dags(n_vars, n_rows):
    card = [2, 3, 2, 4][:n_vars]
    rows = random_rows(card, n_rows, seed=n_vars)
    data = table_of(rows, card)
    limit = min(2, n_vars - 1)
    found = structure_posterior(data, max_parents=limit, n_dags=3, seed=1)
    total, shares = oracle.dag_posterior(n_vars, family_of(data), limit)
    arcs, paths = oracle.arc_probabilities(n_vars, shares)
    assert found.log_total == pytest.approx(total, rel=1e-12, abs=1e-9)
    assert found.arcs == pytest.approx(np.array(arcs), abs=1e-11)
    assert found.paths == pytest.approx(np.array(paths), abs=1e-11)
    assert found.edges == pytest.approx(np.array(arcs) + np.array(arcs).T, abs=1e-11)
    assert found.largest_r_hat == 1.0
    assert not found.errors.any()


@pytest.mark.slow
@pytest.mark.parametrize("score", ["bdeu", "bic", "k2", "qnml"])
def test_five_variables_with_any_number_of_parents(score):
    card = [2, 3, 2, 2, 3]
    data = table_of(random_rows(card, 60, seed=5), card)
    found = structure_posterior(data, score=score, max_parents=4, n_dags=5, seed=1)
    total, shares = oracle.dag_posterior(5, family_of(data, score=score), 4)
    arcs, paths = oracle.arc_probabilities(5, shares)
    assert found.log_total == pytest.approx(total, rel=1e-12)
    assert found.arcs == pytest.approx(np.array(arcs), abs=1e-10)
    assert found.paths == pytest.approx(np.array(paths), abs=1e-10)


def few_rows():
    card = [2, 3, 2, 2]
    return table_of(random_rows(card, 25, seed=2), card)


@pytest.mark.parametrize("method", ["exact", "partition"])
def test_dags_are_drawn_as_often_as_they_are_probable(method):
    data, n_dags = few_rows(), 8000
    _, shares = oracle.dag_posterior(4, family_of(data), 3)
    found = structure_posterior(
        data, method=method, max_parents=3, n_dags=n_dags, steps=30, seed=1
    )
    counts = dict.fromkeys(shares, 0)
    for dag in found.dags:
        counts[frozenset((p, v) for v in range(4) for p in dag.parents[v])] += 1
    # Chi-squared over DAGs expected at least five times: about one for each.
    squares = [
        (counts[arcs] - n_dags * share) ** 2 / (n_dags * share)
        for arcs, share in shares.items()
        if n_dags * share >= 5
    ]
    n_cells = len(squares)
    assert n_cells > 30
    assert sum(squares) < n_cells + 5 * np.sqrt(2 * n_cells)


@pytest.mark.slow
def test_chains_agree_with_the_exact_sum_within_their_errors():
    data = asia(200)
    exact = structure_posterior(data, n_dags=1, seed=1)
    found = structure_posterior(data, method="partition", n_dags=2000, seed=1)
    assert (found.method, found.n_chains, len(found.dags)) == ("partition", 4, 2000)
    assert np.abs(found.arcs - exact.arcs).max() < 0.06
    assert (np.abs(found.arcs - exact.arcs) <= 5 * found.errors + 0.01).all()
    assert (np.abs(found.edges - exact.edges) <= 5 * found.edge_errors + 0.01).all()
    assert np.abs(found.paths - exact.paths).max() < 0.08
    assert found.largest_r_hat < 1.1
    mean = np.mean([[[p in dag.parents[v] for v in range(8)] for p in range(8)]
                    for dag in found.dags], axis=0)  # fmt: skip
    assert found.arcs == pytest.approx(mean)


def test_constraints_hold_in_every_dag():
    data = asia(100)
    wanted = Constraints(required=[("xray", "smoke")], forbidden=[("tub", "either")])
    names, results = data.names, []
    for method in ("exact", "partition"):
        found = structure_posterior(
            data, method=method, constraints=wanted, n_dags=400, seed=1
        )
        xray, smoke = names.index("xray"), names.index("smoke")
        assert found.arcs[xray, smoke] == pytest.approx(1.0)
        assert found.arcs[names.index("tub"), names.index("either")] == 0.0
        assert all(("xray", "smoke") in dag.arcs for dag in found.dags)
        results.append(found.arcs)
    assert np.abs(results[0] - results[1]).max() < 0.15


def test_constraints_that_no_dag_holds_are_an_error():
    with pytest.raises(ParameterError, match="cycle"):
        structure_posterior(
            asia(20), constraints={"required": [("asia", "tub"), ("tub", "asia")]}
        )


def test_the_uniform_prior_has_more_arcs():
    fair = structure_posterior(asia(50), n_dags=1).arcs.sum()
    assert structure_posterior(asia(50), prior="uniform", n_dags=1).arcs.sum() > fair


@pytest.mark.filterwarnings("ignore::bayesmend.errors.ConvergenceWarning")
@pytest.mark.parametrize("method", ["exact", "partition"])
def test_the_same_answer_for_any_number_of_threads(method):
    card = [2] * 15
    table = table_of(random_rows(card, 30, seed=1), card)
    first, *others = (
        structure_posterior(
            table, method=method, max_parents=1, n_dags=40, seed=3, n_threads=n
        )
        for n in (1, 3)
    )
    for other in others:
        assert other.arcs.tobytes() == first.arcs.tobytes()
        assert other.dags == first.dags


def test_arcs_are_listed_with_the_surest_first():
    found = structure_posterior(asia(300), n_dags=10, seed=1)
    listed = found.arc_probabilities(0.2)
    assert [arc.probability for arc in listed] == sorted(
        (arc.probability for arc in listed), reverse=True
    )
    assert len(listed) == (found.arcs >= 0.2).sum()
    arc = listed[0]
    i, j = found.names.index(arc.parent), found.names.index(arc.child)
    assert (arc.probability, arc.either) == (found.arcs[i, j], found.edges[i, j])
    assert (arc.error, arc.either_error) == (0.0, 0.0)


def test_chains_that_do_not_agree_are_told():
    with pytest.warns(ConvergenceWarning, match="the chains do not agree .R-hat"):
        structure_posterior(asia(2000), method="partition", n_dags=8, steps=1, seed=2)


def test_a_time_limit_makes_chains_of_an_exact_sum():
    rng = np.random.default_rng(1)
    table = {f"v{i}": rng.integers(0, 2, 40).astype(str).tolist() for i in range(19)}
    with within(1.5), pytest.warns(ConvergenceWarning):
        found = structure_posterior(table, max_parents=2, time_limit=0.5, seed=1)
    assert (found.method, found.stopped) == ("partition", "time")
    assert found.chosen == "partition: the exact sum was stopped (time limit)"
    assert len(found.dags) >= 4


@pytest.mark.filterwarnings("ignore::bayesmend.errors.ConvergenceWarning")
def test_ctrl_c_gives_what_was_drawn():
    with ctrl_c_after(0.3):
        found = structure_posterior(
            asia(500), method="partition", n_dags=1_000_000, seed=1
        )
    assert found.stopped == "interrupt"
    assert found.arcs.shape == (8, 8)


def test_progress_is_told():
    told = []
    structure_posterior(asia(50), n_dags=1, progress=lambda *x: told.append(x[0]))
    assert told[0] == "all DAGs of 8 variables"


def test_what_does_not_fit_is_refused(monkeypatch):
    with pytest.raises(DataError, match="missing"):
        structure_posterior({"a": ["x", None, "y"], "b": ["u", "v", "u"]})
    with pytest.raises(ParameterError, match="method must be one of"):
        structure_posterior(asia(5), method="order")
    with pytest.raises(ParameterError, match="n_dags must be an integer >= 1"):
        structure_posterior(asia(5), n_dags=0)
    wide = table_of([[0] * 30, [1] * 30], [2] * 30)
    with pytest.raises(ParameterError, match=r"needs about \d+ GB. Use method="):
        structure_posterior(wide, method="exact", max_parents=1)
    monkeypatch.setattr(posterior, "_MOST_FAMILIES", 1000)
    with pytest.raises(ParameterError, match="more than the 1,000 that can be"):
        structure_posterior(wide, max_parents=3)
    wider = table_of([[0] * 300, [1] * 300], [2] * 300)
    with pytest.raises(ParameterError, match="take up to 256 variables"):
        structure_posterior(wider, max_parents=0)


def test_memory_is_stated():
    assert posterior_memory(20, n_threads=2) == 8 * 2**20 * (20 + 4 + 5)


@pytest.mark.filterwarnings("ignore::bayesmend.errors.ConvergenceWarning")
def test_more_than_sixty_four_variables():
    rng = np.random.default_rng(1)
    columns = [rng.integers(0, 2, 200) for _ in range(70)]
    columns[69] = np.where(rng.random(200) < 0.9, columns[3], columns[69])
    table = {f"v{i}": c.astype(str).tolist() for i, c in enumerate(columns)}
    found = structure_posterior(table, max_parents=1, n_dags=40, steps=60, seed=1)
    assert found.chosen == "partition: 70 variables"
    assert found.edges[3, 69] == 1.0
