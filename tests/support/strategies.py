"""Hypothesis strategies shared by the tests."""

import math

import numpy as np
from hypothesis import strategies as st

from bayesmend import Dag, IncompleteData, Network

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


@st.composite
def networks_with_holes(draw, max_vars=6, max_states=5, max_rows=4, max_joint=1500):
    """(network, rows): zeros, ones and ties abound; None where a cell is missing.

    At most `max_joint` joint states, so that they can be enumerated.
    """
    dag = draw(dags(max_vars=max_vars))
    card = [draw(st.integers(2, max_states)) for _ in dag.names]
    while math.prod(card) > max_joint:
        card[card.index(max(card))] -= 1
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    # Small whole numbers make zeros, ones and ties; fractions make none.
    is_rough = draw(st.booleans())
    cpts = []
    for i, parents in enumerate(dag.parents):
        shape = (math.prod(card[p] for p in parents), card[i])
        weights = rng.integers(0, 3, shape) + (0 if is_rough else rng.random(shape))
        weights[weights.sum(axis=1) == 0, -1] = 1.0
        cpts.append(weights / weights.sum(axis=1, keepdims=True))
    network = Network(dag, tuple(labels_of(card)), tuple(cpts))
    cell = [st.none() | st.integers(0, r - 1) for r in card]
    row = st.tuples(*cell) | st.tuples(*(st.none() for _ in card))
    return network, draw(st.lists(row, min_size=1, max_size=max_rows))


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
    st.sampled_from(list('ab,;\t"\r\n é漢🙂')), max_size=6
) | st.sampled_from(["a" * n for n in (7, 8, 9, 15, 16, 17, 40)])


@st.composite
def awkward_tables(draw, max_rows=10):
    """Rows of awkward text, the first a header of distinct names."""
    n_vars = draw(st.integers(1, 4))
    header = draw(st.lists(awkward_text, min_size=n_vars, max_size=n_vars, unique=True))
    pool = draw(st.lists(awkward_text, min_size=1, max_size=5))
    row = st.lists(st.sampled_from(pool), min_size=n_vars, max_size=n_vars)
    return [header, *draw(st.lists(row, max_size=max_rows))]


# Candidate parent sets and complete tables.


def random_lists(n_vars, n_sets, max_parents, seed):
    """Many candidates with scores that fall with every missing member."""
    rng = np.random.default_rng(seed)
    lists = []
    for v in range(n_vars):
        others = [u for u in range(n_vars) if u != v]
        found = {(): -10.0 - 5.0 * rng.random()}
        for _ in range(n_sets - 1):
            size = int(rng.integers(1, min(max_parents, n_vars - 1) + 1))
            members = tuple(sorted(rng.choice(others, size, replace=False).tolist()))
            found[members] = found[()] + 3.0 * rng.random() * size
        lists.append([(score, members) for members, score in found.items()])
    return lists


@st.composite
def complete_tables(
    draw, *, min_vars=1, max_vars=5, min_rows=0, max_rows=40, max_states=4
):
    """Rows of codes and the number of states; some columns are constant."""
    n = draw(st.integers(min_vars, max_vars))
    card = [draw(st.integers(1, max_states)) for _ in range(n)]
    # A low ceiling on the states that occur gives constant columns and unseen states.
    seen = [draw(st.integers(1, r)) for r in card]
    row = st.tuples(*(st.integers(0, s - 1) for s in seen))
    return draw(st.lists(row, min_size=min_rows, max_size=max_rows)), card


def table_of(rows, card, weights=None):
    codes = np.array(rows, np.uint8).reshape(len(rows), len(card))
    return IncompleteData.from_codes(
        codes,
        names=[f"v{i}" for i in range(len(card))],
        states=[tuple(range(r)) for r in card],
        weights=weights,
    )


def linked_rows(card, n_rows, seed):
    """Rows in which each variable copies its predecessor more often than not."""
    rng = np.random.default_rng(seed)
    rows = np.zeros((n_rows, len(card)), int)
    for v, r in enumerate(card):
        own = rng.integers(0, r, n_rows)
        copied = rows[:, v - 1] % r if v else own
        rows[:, v] = np.where(rng.random(n_rows) < 0.6, copied, own)
    return rows


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


def random_holes(seed, *, max_vars=5, max_holes=8, max_total=99, one_state=None):
    """(rows, card) from a seed: small enough to enumerate, with every awkward kind.

    Duplicate rows (with their holes), rows that are all holes, variables that are never
    seen, variables of a single state, no complete row, blocks.
    """
    rng = np.random.default_rng(seed)
    n_vars = int(rng.integers(2, max_vars + 1))
    apart = np.random.default_rng([seed, 7])
    if one_state is None:
        one_state = rng.random() < 0.2
    most = 5 if rng.random() < 0.3 else 3
    card = rng.integers(1 if one_state else 2, most, n_vars).tolist()
    rows = linked_rows(card, int(rng.integers(1, 12)), rng).tolist()
    if rng.random() < 0.5:
        rows += [list(rows[k]) for k in rng.integers(0, len(rows), 6)]
    cells = [(u, i) for u in range(len(rows)) for i in range(n_vars)]
    cells = [cells[k] for k in rng.permutation(len(cells))]
    if apart.random() < 0.3:
        cells = block_of(rows, card, apart) + cells[: int(apart.integers(3))]
    kind = rng.integers(5)
    if kind == 1:
        cells = [(0, i) for i in range(n_vars)] + cells
    if kind == 2:
        rows = rows[:4]
        cells = [(u, 0) for u in range(len(rows))] + [c for c in cells if c[0] < 4]
    if kind == 3:
        rows = rows[: max_holes // 2]
        cells = [(u, int(rng.integers(n_vars))) for u in range(len(rows))]
    size = {2: 256, 3: 128, 4: 48, 5: 16}[n_vars]
    n_holes = int(rng.integers(1, max_holes + 1))
    holed = punch(rows, card, cells, n_holes, size, max_total)
    if kind == 4:
        holed += [list(row) for row in holed if None in row]
        while n_completions(holed, card) > size:
            holed.pop()
    return holed, card


def block_of(rows, card, rng):
    """The cells of one variable in all rows with a certain state of another."""
    asked, told = rng.choice(len(card), 2, replace=False).tolist()
    state = int(rng.integers(card[told]))
    return [(u, asked) for u, row in enumerate(rows) if row[told] == state]


def n_completions(rows, card):
    """How many ways there are to fill in a table."""
    return math.prod(card[i] for row in rows for i, c in enumerate(row) if c is None)


def holed_table(rows, card, **options):
    """A table of rows with None where a cell is missing."""
    codes = np.array([[MISSING if c is None else c for c in row] for row in rows])
    return IncompleteData.from_codes(
        codes.astype(np.uint8).reshape(len(rows), len(card)),
        names=names_of(card),
        states=labels_of(card),
        **options,
    )


@st.composite
def candidate_lists(draw, max_vars=5, max_sets=5, min_vars=1, whole=True):
    """Candidates with ties and minus infinity; `whole`: each has the empty set."""
    n_vars = draw(st.integers(min_vars, max_vars))
    scores = st.one_of(
        st.sampled_from([-3.0, -2.0, -1.5, -1.0, -math.inf]),
        st.floats(-1e4, 0.0, allow_nan=False),
    )
    lists = []
    for i in range(n_vars):
        others = [v for v in range(n_vars) if v != i]
        subsets = st.sets(st.sampled_from(others)) if others else st.just(set())
        sets = draw(st.lists(subsets.map(sorted).map(tuple), max_size=max_sets))
        row = {parents: draw(scores) for parents in sets}
        if whole:
            row[()] = draw(st.floats(-1e3, -1.0))
        lists.append([(score, parents) for parents, score in row.items()])
    return lists


@st.composite
def holed_tables(draw, min_vars=1):
    """Small tables, some cells missing, some declared states unseen."""
    n_rows, n_vars = draw(st.integers(0, 12)), draw(st.integers(min_vars, 4))
    card = draw(st.lists(st.integers(1, 4), min_size=n_vars, max_size=n_vars))
    cell = [st.sampled_from([*range(c), MISSING]) for c in card]
    rows = draw(st.lists(st.tuples(*cell), min_size=n_rows, max_size=n_rows))
    codes = np.array(rows, dtype=np.uint8).reshape(n_rows, n_vars)
    return IncompleteData.from_codes(
        codes,
        names=tuple("abcd"[:n_vars]),
        states=tuple(tuple(f"s{k}" for k in range(c)) for c in card),
        weights=draw(st.none() | st.just(np.arange(1.0, n_rows + 1.0))),
    )
