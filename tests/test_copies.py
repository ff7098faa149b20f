"""Values survive pickle and copy: equal, and as read-only as they were."""

import copy
import pickle

import numpy as np
import pytest

import bayesmend as bm

NETWORK = bm.load_network("asia")
COMPLETE = NETWORK.sample(40, seed=1)
HIDDEN = bm.hide_mcar(COMPLETE, 0.1, seed=1)
RESULT = bm.learn(HIDDEN.data, method="em", seed=1)
VALUES = {
    "network": NETWORK,
    "data": HIDDEN.data,
    "weighted": bm.IncompleteData.from_table(
        {"a": ["x", None, "y"]}, weights=[1.0, 2.0, 3.0]
    ),
    "read and hidden": bm.hide_mcar(
        {"a": ["x", "y"] * 9, "b": ["u", "v", "u"] * 6}, 0.2, seed=1
    ),
    "patterns": HIDDEN.data.patterns(),
    "hidden": HIDDEN,
    "answer": bm.query(NETWORK, ["lung", "bronc"], given={"smoke": "yes"}),
    "weighed": bm.query(NETWORK, "lung", inference="weighting", seed=1),
    "marginals": bm.marginals(NETWORK, HIDDEN.data),
    "imputation": bm.impute(NETWORK, HIDDEN.data),
    "table": NETWORK.cpt("either"),
    "candidates": bm.structure.candidate_parents(COMPLETE, max_parents=1),
    "structure": bm.learn_structure(COMPLETE, max_parents=1),
    "constraints": bm.Constraints(forbidden=[("lung", "smoke")]),
    "fit": bm.fit_parameters(NETWORK.dag, HIDDEN.data),
    "result": RESULT,
    "scorer": bm.score.FamilyScorer(COMPLETE, score="bic", n_threads=1),
    "error": bm.errors.FormatError("this is no network.", "net.bif", 3, 4),
}
WAYS = {
    "pickle": lambda value: pickle.loads(pickle.dumps(value)),
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
}


def arrays_of(value, path=""):
    """Iterate over the arrays within a value, each with the path to it."""
    if isinstance(value, np.ndarray):
        yield path, value
    elif isinstance(value, tuple):
        for i, item in enumerate(value):
            yield from arrays_of(item, f"{path}[{i}]")
    elif type(value).__module__.startswith("bayesmend"):
        fields = getattr(value, "__dataclass_fields__", ())
        for name in sorted(fields):
            yield from arrays_of(getattr(value, name), f"{path}.{name}")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", VALUES)
def test_copies_are_equal_and_as_read_only(name, way):
    value = VALUES[name]
    again = WAYS[way](value)
    assert type(again) is type(value)
    before, after = dict(arrays_of(value)), dict(arrays_of(again))
    assert before.keys() == after.keys()
    for path, array in before.items():
        np.testing.assert_array_equal(after[path], array)
        assert after[path].flags.writeable <= array.flags.writeable, path
        assert after[path].flags.f_contiguous >= array.flags.f_contiguous, path
    assert repr(again) == repr(value) or name == "scorer"


def test_a_network_read_again_cannot_be_changed():
    again = pickle.loads(pickle.dumps(NETWORK))
    assert again == NETWORK
    with pytest.raises(ValueError, match="read-only"):
        again.cpts[0][0, 0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        copy.deepcopy(HIDDEN.data).codes[0, 0] = 1
    with pytest.raises(TypeError):
        copy.deepcopy(HIDDEN).request["rate"] = 1.0


@pytest.mark.parametrize("way", WAYS)
def test_a_scorer_scores_the_same(way):
    observed = bm.score.FamilyScorer.completed(
        HIDDEN.data, COMPLETE, score=bm.score.Score("bdeu", ess=2.0), n_threads=1
    )
    for scorer in (VALUES["scorer"], observed):
        again = WAYS[way](scorer)
        assert again.n_threads == scorer.n_threads
        assert again.family("lung", ["smoke"]) == scorer.family("lung", ["smoke"])
