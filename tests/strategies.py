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
def incomplete_tables(draw, max_vars=5, max_holes=8, size=256, max_total=14):
    """(rows, card): None where missing.

    Some have duplicate rows (with their holes), rows that are all holes, variables that
    are never seen. At most `size` completions; variables and states of the missing
    cells add up to at most `max_total`.
    """
    card = draw(st.lists(st.integers(2, 4), min_size=2, max_size=max_vars))
    row = st.tuples(*(st.integers(0, r - 1) for r in card))
    rows = [list(r) for r in draw(st.lists(row, min_size=1, max_size=8))]
    cells = [(u, i) for u in range(len(rows)) for i in range(len(card))]
    cells = draw(st.permutations(cells))[: draw(st.integers(0, max_holes))]
    kind = draw(st.sampled_from(["cells", "duplicates", "whole row", "whole variable"]))
    if kind == "duplicates":
        rows += [list(r) for r in rows]
        cells = [(u + d, i) for u, i in cells for d in (0, len(rows) // 2)]
    if kind == "whole row":
        cells = [(0, i) for i in range(len(card))] + cells
    if kind == "whole variable":
        rows = rows[:3]
        cells = [(u, 0) for u in range(len(rows))] + [c for c in cells if c[0] < 3]
    return punch(rows, card, cells, max_holes, size, max_total), card


def punch(rows, card, cells, max_holes, size, max_total):
    """Hide the cells, as far as the limits allow."""
    n_completions, total, hidden = 1, len(card), set()
    for u, i in cells:
        fits = n_completions * card[i] <= size and total + card[i] <= max_total
        if fits and len(hidden) < max_holes and (u, i) not in hidden:
            n_completions, total = n_completions * card[i], total + card[i]
            hidden.add((u, i))
    return [
        [None if (u, i) in hidden else c for i, c in enumerate(row)]
        for u, row in enumerate(rows)
    ]
