"""Random tables and other shared inputs of the property tests."""

from typing import Any

import numpy as np
from hypothesis import strategies as st

MISSING = 255


@st.composite
def coded_tables(
    draw: Any,
    *,
    min_rows: int = 0,
    max_rows: int = 12,
    min_vars: int = 1,
    max_vars: int = 5,
    max_states: int = 5,
    complete: bool = False,
) -> tuple[np.ndarray, list[int]]:
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


def labels_of(card: list[int]) -> list[tuple[str, ...]]:
    """States s0, s1, ... for every variable."""
    return [tuple(f"s{k}" for k in range(r)) for r in card]


def names_of(card: list[int]) -> list[str]:
    """Names v0, v1, ... for every variable."""
    return [f"v{j}" for j in range(len(card))]


# Text that tries a reader: delimiters, quotes, line ends, blanks, letters of 1-4 bytes.
awkward_text = st.text(
    st.sampled_from(list('ab,;\t"\r\n \x00é漢🙂')), max_size=6
) | st.sampled_from(["a" * n for n in (7, 8, 9, 15, 16, 17, 40)])


@st.composite
def awkward_tables(draw: Any, max_rows: int = 10) -> list[list[str]]:
    """Rows of awkward text, the first a header of distinct names."""
    n_vars = draw(st.integers(1, 4))
    header = draw(st.lists(awkward_text, min_size=n_vars, max_size=n_vars, unique=True))
    pool = draw(st.lists(awkward_text, min_size=1, max_size=5))
    row = st.lists(st.sampled_from(pool), min_size=n_vars, max_size=n_vars)
    return [header, *draw(st.lists(row, max_size=max_rows))]
