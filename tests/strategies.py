"""Hypothesis strategies shared by the tests."""

import numpy as np
from hypothesis import strategies as st

from bayesmend import Dag, Network

# Graphs and networks.


@st.composite
def dags(draw, max_vars=5, min_vars=1):
    """Random graphs whose topological order is not the order of the variables."""
    n = draw(st.integers(min_vars, max_vars))
    order = draw(st.permutations(range(n)))
    arcs = [
        (order[i], order[j])
        for i in range(n)
        for j in range(i + 1, n)
        if draw(st.booleans())
    ]
    return Dag.from_arcs([f"v{i}" for i in range(n)], arcs)


LABELS = st.one_of(
    st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=6),
    st.integers(-5, 300),
    st.floats(allow_nan=False, allow_infinity=False, width=32),
)


@st.composite
def networks(draw, max_vars=4, max_states=4, labels=None):
    """Random networks; some probabilities are zero."""
    dag = draw(dags(max_vars=max_vars))
    card = [draw(st.integers(1, max_states)) for _ in dag.names]
    states = tuple(
        tuple(f"s{k}" for k in range(r))
        if labels is None
        else tuple(draw(st.lists(labels, min_size=r, max_size=r, unique=True)))
        for r in card
    )
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    cpts = []
    for i, parents in enumerate(dag.parents):
        shape = (int(np.prod([card[p] for p in parents], dtype=int)), card[i])
        weights = rng.random(shape) * (rng.random(shape) < 0.7)
        weights[weights.sum(axis=1) == 0, 0] = 1.0
        cpts.append(weights / weights.sum(axis=1, keepdims=True))
    return Network(dag, states, tuple(cpts))


# Tables: their codes, and text that tries a reader.

MISSING = 255


@st.composite
def coded_tables(
    draw,
    *,
    min_rows=0,
    max_rows=12,
    min_vars=1,
    max_vars=5,
    max_states=5,
    complete=False,
):
    """Codes of shape (n_rows, n_vars) and the number of states of each variable.

    Rows repeat often; some columns are constant, some missing throughout.
    """
    n_vars = draw(st.integers(min_vars, max_vars))
    card = draw(st.lists(st.integers(1, max_states), min_size=n_vars, max_size=n_vars))
    cells = [
        st.integers(0, r - 1) if complete else st.integers(0, r - 1) | st.just(MISSING)
        for r in card
    ]
    pool = draw(st.lists(st.tuples(*cells), min_size=1, max_size=6))
    rows = draw(st.lists(st.sampled_from(pool), min_size=min_rows, max_size=max_rows))
    codes = np.array(rows, dtype=np.uint8).reshape(len(rows), n_vars)
    if not complete and draw(st.booleans()):
        codes[:, draw(st.integers(0, n_vars - 1))] = MISSING
    return codes, card


def labels_of(card):
    """States s0, s1, ... for every variable."""
    return [tuple(f"s{k}" for k in range(r)) for r in card]


def names_of(card):
    """Names v0, v1, ... for every variable."""
    return [f"v{j}" for j in range(len(card))]


# Text that tries a reader: delimiters, quotes, line ends, blanks, letters of 1-4 bytes.
awkward_text = st.text(
    st.sampled_from(list('ab,;\t"\r\n \x00é漢🙂')), max_size=6
) | st.sampled_from(["a" * n for n in (7, 8, 9, 15, 16, 17, 40)])


@st.composite
def awkward_tables(draw, max_rows=10):
    """Rows of awkward text, the first a header of distinct names."""
    n_vars = draw(st.integers(1, 4))
    header = draw(st.lists(awkward_text, min_size=n_vars, max_size=n_vars, unique=True))
    pool = draw(st.lists(awkward_text, min_size=1, max_size=5))
    row = st.lists(st.sampled_from(pool), min_size=n_vars, max_size=n_vars)
    return [header, *draw(st.lists(row, max_size=max_rows))]
