"""The engine of the page gives the answers of the library."""

import numpy as np
import pytest
from support.shared import DATA
from support.views import page_of

import bayesmend as bm
from bayesmend.data import MISSING
from bayesmend.view import describe

N_QUERIES = 200
NETWORKS = ("asia", "child", "alarm", "hailfinder")
PATHS = {name: DATA / "networks" / f"{name}.bif.gz" for name in NETWORKS}

ASK = """
queries => queries.map(evidence => {
  session.replace(new Map(evidence));
  const { answers } = session;
  return {
    log: answers.logEvidence,
    best: session.engine.mostProbable(session.evidence).logProbability,
    shares: session.names.map((_, v) => [...answers.marginal(v)]),
  };
})
"""


def network_of(name):
    if name in bm.available_networks():
        return bm.load_network(name)
    if not PATHS[name].exists():
        pytest.skip(f"{PATHS[name]} is not there")
    return bm.read_network(PATHS[name])


def random_evidence(network, seed):
    """Rows of the network in which each cell is shown with one in three."""
    rng = np.random.default_rng(seed)
    codes = np.array(network.sample(N_QUERIES, seed=seed).codes)
    codes[rng.random(codes.shape) < 2 / 3] = MISSING
    return bm.IncompleteData.from_codes(
        codes, names=network.names, states=network.states
    )


@pytest.mark.parametrize("name", NETWORKS)
def test_two_hundred_random_queries_have_the_answers_of_the_library(page, name):
    network = network_of(name)
    asked = random_evidence(network, seed=len(name))
    page.set_content(
        page_of(
            describe(network),
            modules=["session"],
            start="window.session = new Session(data);",
        )
    )
    queries = [
        [(v, int(code)) for v, code in enumerate(row) if code != MISSING]
        for row in asked.codes
    ]
    answers = page.evaluate(ASK, queries)
    assert len(answers) == N_QUERIES
    found = bm.most_probable(network, asked)
    assert apart([a["log"] for a in answers], found.log_evidence) < 1e-9
    assert apart([a["best"] for a in answers], found.log_probability) < 1e-9
    truth = bm.marginals(network, asked)
    for v, variable in enumerate(network.names):
        shares = np.array([answer["shares"][v] for answer in answers])
        rows, probabilities = truth.of(variable)
        assert len(rows) > N_QUERIES / 2
        assert apart(shares[rows], probabilities) < 1e-9
        given = np.setdiff1d(np.arange(N_QUERIES), rows)
        states = asked.codes[given, v]
        assert np.array_equal(shares[given], np.eye(shares.shape[1])[states])


def apart(found, expected):
    return np.abs(np.asarray(found) - expected).max()
