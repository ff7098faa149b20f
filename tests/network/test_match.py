"""Variables and states of a table meet those of a network."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesmend.data.states import MISSING, find_state, match_states
from bayesmend.data.table import IncompleteData
from bayesmend.errors import DataError
from bayesmend.network.match import extend_states, match_codes, match_names, recode

LABELS = st.lists(st.sampled_from(["a", "b", "c", 1, 2.5, True, "1x"]), unique=True)


@given(LABELS.filter(bool), LABELS)
def test_a_label_is_matched_to_itself_or_to_its_text(known, given):
    table = match_states(tuple(known), given)
    assert table[len(given) :].tolist() == [MISSING] * (len(table) - len(given))
    texts = [str(label) for label in known]
    for code, label in zip(table.tolist(), given, strict=False):
        if label in known:
            assert known[code] == label
        elif str(label) in texts:
            assert texts[code] == str(label)
        else:
            assert code == MISSING


def test_labels_that_print_the_same_are_told_apart_by_type():
    assert find_state((1, "1"), "1") == 1
    assert find_state((1, "1"), 1) == 0
    assert find_state((1, "1", 2), "2") is None


def test_states_that_a_table_lacks_are_added_behind_its_own():
    known, given = ("no", "yes", "often"), ("yes", "never")
    states, codes = extend_states(known, given, match_states(known, given))
    assert states == ("yes", "never", "no", "often")
    assert codes[:3].tolist() == [2, 0, 3]


def test_codes_are_those_of_the_network_and_an_unknown_label_is_located():
    codes, out = np.array([1, MISSING, 0], np.uint8), np.empty(3, np.uint8)
    recode("a", ("y", "x"), ("x", "y"), codes, out)
    assert out.tolist() == [0, MISSING, 1]
    message = r"variable 'a' has no state 'y' in row 0\. Its states: x\."
    with pytest.raises(DataError, match=message):
        recode("a", ("x",), ("x", "y"), codes, out)
    unused = np.array([0, MISSING], np.uint8)
    recode("a", ("x",), ("x", "y"), unused, out[:2])
    assert out[:2].tolist() == [0, MISSING]


def test_variables_come_in_the_order_of_the_network():
    data = IncompleteData.from_table(
        {"b": ["u", "v"], "a": ["x", None]}, columns=["a", "b"]
    )
    cells = match_codes(["a", "b"], [("x",), ("v", "u")], data)
    assert cells.tolist() == [[0, MISSING], [1, 0]]
    with pytest.raises(DataError, match=r"no variable named 'c'\. Available: b, a"):
        match_names(["c"], data.names)
    with pytest.raises(DataError, match="a variable 'b' that the graph lacks"):
        match_names(["a"], data.names)
