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


# Incomplete tables.


@st.composite
def incomplete_tables(
    draw, max_vars=5, max_states=4, max_rows=8, max_holes=8, size=256
):
    """(rows, card): None where missing, at most `size` completions.

    Some have duplicate rows, rows that are all holes, variables that are never seen.
    """
    card = draw(st.lists(st.integers(2, max_states), min_size=2, max_size=max_vars))
    row = st.tuples(*(st.integers(0, r - 1) for r in card))
    rows = [list(r) for r in draw(st.lists(row, min_size=1, max_size=max_rows))]
    kind = draw(st.sampled_from(["cells", "whole row", "whole variable"]))
    cells = [(u, i) for u in range(len(rows)) for i in range(len(card))]
    cells = draw(st.permutations(cells))[: draw(st.integers(0, max_holes))]
    if kind == "whole row":
        cells = [(0, i) for i in range(len(card))] + cells
    if kind == "whole variable":
        rows = rows[:4]
        cells = [(u, 0) for u in range(len(rows))] + [c for c in cells if c[0] < 4]
    n_completions = n_holes = 1
    for u, i in dict.fromkeys(cells):
        if rows[u][i] is None or n_completions * card[i] > size or n_holes > max_holes:
            continue
        n_completions, n_holes = n_completions * card[i], n_holes + 1
        rows[u][i] = None
    if draw(st.booleans()):
        rows = rows + [list(r) for r in rows if None not in r][:3]
    return rows, card
