"""Whatever takes a table takes every kind of table, and answers the same."""

import polars as pl
import pyarrow as pa
import pytest

from bayesmend.data.discretize import fit_discretization
from bayesmend.graph.dag import Dag
from bayesmend.hiding.mechanisms import (
    hide_mar,
    hide_mcar,
    hide_mnar,
    hide_value_of,
    hide_value_per_variable,
)
from bayesmend.inference.impute import impute
from bayesmend.inference.posterior import log_evidence, marginals
from bayesmend.learning.em import fit_parameters, learn_em
from bayesmend.learning.learn import learn
from bayesmend.learning.reduction import reduce_to_complete
from bayesmend.network.network import Network
from bayesmend.score import (
    FamilyScorer,
    dag_score,
    family_counts,
    family_score,
    score_families,
)
from bayesmend.structure import learn_structure
from bayesmend.structure.candidates import candidate_parents
from bayesmend.structure.greedy import climb

NAMES = ("x0", "x1", "x2")  # those of an array
CHAIN = Dag.from_arcs(NAMES, [("x0", "x1"), ("x1", "x2")])
CPTS = ([[0.4, 0.6]], [[0.9, 0.1], [0.2, 0.8]], [[0.7, 0.3], [0.1, 0.9]])
NETWORK = Network(CHAIN, (("1", "2"),) * 3, CPTS)
COMPLETE = NETWORK.sample(40, seed=1)
HOLED = hide_mcar(COMPLETE, 0.1, seed=2).data


def write(frame, path):
    frame.to_csv(path, index=False)
    return path


def write_parquet(frame, path):
    frame.to_parquet(path)
    return str(path)


KINDS = {
    "pandas": lambda frame, folder: frame,
    "polars": lambda frame, folder: pl.from_pandas(frame),
    "pyarrow": lambda frame, folder: pa.Table.from_pandas(frame, preserve_index=False),
    "array": lambda frame, folder: frame.to_numpy(dtype=object),
    "mapping": lambda frame, folder: frame.to_dict("list"),
    "csv": lambda frame, folder: write(frame, folder / "t.csv"),
    "parquet": lambda frame, folder: write_parquet(frame, folder / "t.parquet"),
}

COMPLETE_CALLS = {
    "FamilyScorer": lambda t: FamilyScorer(t).dag(CHAIN),
    "dag_score": lambda t: dag_score(CHAIN, t),
    "family_score": lambda t: family_score(t, "x1", ["x0"]),
    "score_families": lambda t: score_families(t, [("x2", ["x0"])]).tolist(),
    "family_counts": lambda t: family_counts(t, "x1", ["x0"]).tolist(),
    "Network.fit": lambda t: Network.fit(CHAIN, t),
    "log_likelihood": lambda t: NETWORK.log_likelihood(t).tolist(),
    "candidate_parents": lambda t: candidate_parents(t),
    "climb": lambda t: climb(t, restarts=2, seed=1).dag,
    "learn_structure": lambda t: learn_structure(t).dag,
    "fit_discretization": lambda t: fit_discretization(t, {"x2": ("uniform", 2)}),
    "hide_mcar": lambda t: hide_mcar(t, 0.3, seed=1).data,
    "hide_mar": lambda t: hide_mar(t, 0.3, depends_on=["x0"], seed=1).data,
    "hide_mnar": lambda t: hide_mnar(t, 0.3, seed=1).data,
    "hide_value_of": lambda t: hide_value_of(t, "x1", 3, "1", seed=1).data,
    "hide_value_per_variable": lambda t: (
        hide_value_per_variable(t, 3, state=1, seed=1).data
    ),
    "accuracy": lambda t: hide_mcar(COMPLETE, 0.3, seed=1).accuracy(t),
    "accuracy_by_variable": lambda t: hide_mcar(
        COMPLETE, 0.3, seed=1
    ).accuracy_by_variable(t),
}

HOLED_CALLS = {
    "marginals": lambda t: [p.tolist() for p in marginals(NETWORK, t).probabilities],
    "log_evidence": lambda t: log_evidence(NETWORK, t).tolist(),
    "impute": lambda t: impute(NETWORK, t).completed,
    "fit_parameters": lambda t: fit_parameters(CHAIN, t).network,
    "learn": lambda t: learn(t, seed=1).completed,
    "learn_em": lambda t: learn_em(t, seed=1).network,
    "reduce_to_complete": lambda t: reduce_to_complete(t).parent_sets,
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", [*COMPLETE_CALLS, *HOLED_CALLS])
def test_every_kind_of_table_gives_the_same_answer(name, kind, tmp_path):
    data = COMPLETE if name in COMPLETE_CALLS else HOLED
    call = COMPLETE_CALLS.get(name) or HOLED_CALLS[name]
    table = KINDS[kind](data.to_table(), tmp_path)
    assert call(table) == call(data)


def test_a_table_of_another_kind_is_refused_by_name():
    for call in (*COMPLETE_CALLS.values(), *HOLED_CALLS.values()):
        with pytest.raises(ValueError, match=r"a table must be a path.* Got int"):
            call(7)
