"""Wrong arguments and files get one clear sentence of ours, never a raw error."""

import numpy as np
import pytest

import bayesmend as bm
from bayesmend.errors import BayesmendError, DataError, FormatError, ParameterError
from bayesmend.formats import json
from bayesmend.score import Families, Score, dag_score, score_families

TABLE = {"a": ["x", "x", "y", None], "b": ["u", None, "v", "v"]}
FULL = {"a": ["x", "x", "y", "y"], "b": ["u", "v", "v", "v"]}
ASIA = bm.load_network("asia")
DAG = bm.Dag.from_arcs(["a", "b"])
SETS = bm.structure.candidate_parents(FULL)
ENSEMBLE = bm.learn_ensemble(TABLE, n_networks=1, classes=[], seed=1)
REASONED = bm.learn_em(TABLE, mechanism="self", restarts=0, seed=1).network
read = bm.IncompleteData.from_table

WRONG = {
    "constraints must be a Constraints, or a mapping": [
        lambda: bm.learn(TABLE, constraints="abc"),
        lambda: bm.learn_structure(FULL, constraints=5),
    ],
    r"required must be a list of \(parent, child\) pairs. Got 5 instead": [
        lambda: bm.Constraints(required=5),
        lambda: bm.learn(TABLE, constraints={"required": 5}),
    ],
    "tiers must be a list of groups of names. Got 5": [
        lambda: bm.Constraints(tiers=5),
    ],
    "max_parents must be a mapping, such as": [lambda: bm.Constraints(max_parents=5)],
    "time_limit must be a number of seconds > 0. Got '1'": [
        lambda: bm.learn(TABLE, time_limit="1"),
        lambda: bm.learn_em(TABLE, time_limit="1"),
        lambda: bm.learn_structure(FULL, time_limit="1"),
        lambda: bm.structure.candidate_parents(FULL, time_limit="1"),
    ],
    "ess must be a number between 1e-06 and": [
        lambda: bm.learn_ensemble(TABLE, ess=np.zeros(2)),
        lambda: Score("bdeu", ess=None),
        lambda: bm.learn(TABLE, ess="x"),
    ],
    "locality must be an integer": [
        lambda: bm.learn(TABLE, method="local", locality=2**70),
        lambda: bm.learn(TABLE, method="exact", locality=2**70),
    ],
    "n_threads must be an integer below": [lambda: bm.learn(TABLE, n_threads=2**70)],
    "restarts must be an integer below": [
        lambda: bm.learn(TABLE, method="local", restarts=2**70),
        lambda: bm.learn(TABLE, method="em", restarts=2**70),
    ],
    "restarts=100000000 starts of 2 cells are more than 10,000,000 cells": [
        lambda: bm.learn_local(TABLE, restarts=10**8, time_limit=1),
    ],
    "n_vars must be an integer": [
        lambda: bm.structure.choose_solver(None, 50),
        lambda: bm.structure.subsets_memory([5]),
        lambda: bm.structure.subsets_memory(-1),
        lambda: bm.structure.posterior_memory(2**70),
        lambda: Families.up_to(-1, 2),
        lambda: Families.up_to("a", 2),
    ],
    "max_parents must be an integer >= 0": [lambda: Families.up_to(3, -1)],
    "names must be a list of names. Got 5": [
        lambda: read(np.array([["a"], ["b"]]), names=5),
        lambda: bm.Dag.from_arcs(5),
    ],
    "missing must be a list of text or numbers. Got True": [
        lambda: read(TABLE, missing=True)
    ],
    "states must be a mapping, such as": [lambda: read(TABLE, states=5)],
    "states of variable 'a' must be a sequence of labels. Got 5": [
        lambda: read(TABLE, states={"a": 5}),
    ],
    "depends_on must be a list of names. Got 5": [
        lambda: bm.hide_mar(FULL, 0.1, depends_on=5),
    ],
    "variables must be a list of names. Got 5": [
        lambda: bm.hide_mcar(FULL, 0.1, variables=5),
    ],
    "odds must be a mapping, such as": [
        lambda: bm.hide_mar(FULL, 0.1, depends_on="a", odds=5),
    ],
    "an integer of hundreds of digits": [
        lambda: read({"n": [10**400, *range(8)] * 3}, discretize={"n": 2}),
    ],
    r"families must be a list of pairs \(child, parents\)": [
        lambda: score_families(FULL, None),
        lambda: score_families(FULL, 5),
        lambda: Families.from_pairs(5),
    ],
    r"a family must be a pair \(child, parents\)": [
        lambda: score_families(FULL, [5]),
        lambda: score_families(FULL, [("a", 5)]),
        lambda: score_families(FULL, [("a", "b")]),
        lambda: Families.from_pairs([(0, 5)]),
    ],
    "given must be a list of names. Got 5": [
        lambda: DAG.d_separated("a", "b", given=5),
    ],
    r"required must be a list of .* Got array\('a'": [
        lambda: bm.Constraints(required=np.array("a")),
    ],
    "through must be True or False. Got 5": [
        lambda: bm.structure.subsets_memory(5, through=5),
    ],
    "n_sets must be an integer >= 0. Got Ellipsis": [
        lambda: bm.structure.choose_solver(50, ...),
    ],
    "threshold must be a number between 0 and 1. Got array": [
        lambda: ENSEMBLE.consensus(np.zeros(2)),
        lambda: bm.learn_ensemble(TABLE, threshold=np.zeros(2)),
    ],
    "no network named array": [lambda: bm.load_network(np.zeros(2))],
    "reduction must be a Reduction, as reduce_to_complete returns. Got int": [
        lambda: bm.learning.solve_reduction(5),
    ],
    "result must be a LearnResult, as learn returns. Got Network": [
        lambda: bm.learning.sensitivity(ASIA, "lung"),
        lambda: bm.report.render_report(ASIA),
    ],
    "title must be text. Got 5": [
        lambda: bm.report.render_report(ENSEMBLE, title=5),
    ],
    "notes must be a mapping, such as": [
        lambda: bm.report.render_report(ENSEMBLE, notes=["a"]),
    ],
    "parent_sets must be ParentSets, as candidate_parents returns. Got str": [
        lambda: bm.formats.write_jkl("sets.jkl", SETS),
    ],
    "parent_sets must be ParentSets, as candidate_parents returns. Got float": [
        lambda: bm.structure.best_through(0.5),
    ],
    r"lists must be a list of pairs \(score, parents\), such as": [
        lambda: bm.structure.ParentSets.from_lists(["a"], [5]),
    ],
    r"lists must hold pairs \(score, parents\), such as": [
        lambda: bm.structure.ParentSets.from_lists(["a"], [[5]]),
        lambda: bm.structure.ParentSets.from_lists(["a"], [[(1.0, "b")]]),
    ],
    "a variable name must be a string. Got array": [
        lambda: bm.structure.ParentSets.from_lists([np.zeros(2)], [[(1.0, ())]]),
    ],
    "parents must be a list of names. Got 5": [
        lambda: bm.score.family_score(FULL, "a", 5),
    ],
    "have more than 100,000,000 families. Use a smaller max_parents": [
        lambda: Families.up_to(10**6, 3),
        lambda: Families.up_to(2**31, 10**6),
    ],
    "no chosen variable has value {}. The states of": [
        lambda: bm.hiding.hide_value_of(FULL, "a", 1, {}),
    ],
    "cutting must be a mapping": [
        lambda: bm.data.fit_discretization({"n": [1.5, 2.5]}, 5),
    ],
    "by must be one of quantile, uniform. Got 5": [
        lambda: bm.data.fit_discretization({"n": [1.5, 2.5]}, {"n": 2}, by=5),
    ],
    "no variable named": [
        lambda: bm.hide_mcar(FULL, 0.1, variables=[np.zeros(2)]),
        lambda: read(TABLE, columns=[np.zeros(2)]),
    ],
    "strength must be a number between 0 and 100. Got 1e": [
        lambda: bm.hide_mnar(FULL, 0.1, strength=1e300),
    ],
    "fill_empty_rows must be True or False. Got array": [
        lambda: bm.learn(TABLE, fill_empty_rows=np.zeros(2)),
        lambda: bm.impute(bm.learn(TABLE).network, TABLE, fill_empty_rows=np.zeros(2)),
    ],
    "safe must be True or False. Got array": [
        lambda: read(TABLE).write_csv("t.csv", safe=np.zeros(2)),
    ],
    "solver must be one of auto, subsets, ilp, order or a callable": [
        lambda: bm.structure.solve(SETS, solver=np.zeros(2)),
        lambda: bm.structure.solve(SETS, solver="exact"),
    ],
    "File name too long": [
        lambda: read("x" * 5000),
        lambda: read("x" * 5000 + ".csv"),
    ],
    "no such file": [lambda: read("x" * 5000 + ".parquet")],
    "cannot read '.*': embedded null byte": [lambda: read("a\0b")],
    "dag must be a Dag": [
        lambda: dag_score(FULL, DAG),
        lambda: bm.fit_parameters(TABLE, DAG),
        lambda: bm.Network(5, 6, 7),
    ],
    "network must be a Network": [
        lambda: bm.impute(TABLE, ASIA),
        lambda: bm.query("lung", ASIA),
        lambda: bm.write_network("asia.bif", ASIA),
    ],
    "states must be a list of one entry per variable": [
        lambda: bm.Network(DAG, 6, 7),
    ],
    "arcs must be a list of pairs": [lambda: bm.Dag.from_arcs(["a"], 5)],
    "a graph must be a Dag or a Cpdag": [
        lambda: bm.structural_hamming_distance(5, 6),
        lambda: bm.structural_hamming_distance(DAG, ASIA),
    ],
    "n_rows=.* are more than 68,719,476,736 cells": [lambda: ASIA.sample(2**62)],
    "a path must be text or a Path. Got 5": [
        lambda: bm.read_network(5),
        lambda: bm.write_report(bm.learn(TABLE), 5),
    ],
    "weights must sum to at most": [
        lambda: bm.learn(TABLE, weights=[1e300] * 4),
        lambda: bm.learn(TABLE, weights=[2**62] * 4),
        lambda: bm.learn_structure(FULL, weights=[1e308] * 4),
    ],
    "weights must be numbers. Got 'heavy' in row 1 instead": [
        lambda: bm.learn(TABLE, weights=[1, "heavy", 2, 3]),
    ],
    r"weights must be numbers. Got 1000.* in row 0 instead": [
        lambda: bm.learn(TABLE, weights=[10**400] * 4),
    ],
    "weights must be numbers. Got ndarray instead": [
        lambda: bm.learn(TABLE, weights=np.array("a")),
    ],
    "given must map names of variables to states. Got": [
        lambda: bm.query(ASIA, "lung", given=np.zeros((2, 2))),
        lambda: bm.query(ASIA, "lung", given=["smoke"]),
        lambda: bm.query(ASIA, "lung", given=()),
    ],
    "n_permutations=1000000000 of 4 rows are more than 1,000,000,000 cells": [
        lambda: bm.learning.innocence(TABLE, n_permutations=10**9),
    ],
    "mechanism must be 'ignore', 'self', 'auto' or a mapping": [
        lambda: bm.learn(TABLE, mechanism=np.zeros((2, 2))),
        lambda: bm.learn_em(TABLE, mechanism=np.zeros((2, 2))),
    ],
    "mechanism gives 'a' the parent array": [
        lambda: bm.learn(TABLE, mechanism={"a": [np.zeros((2, 2))]}),
    ],
    "targets must be a list of names. Got 0.5": [
        lambda: bm.query(REASONED, 0.5),
    ],
    r"no variable named \['a'\]": [lambda: bm.query(REASONED, [["a"]])],
    "inference must be one of": [
        lambda: bm.marginals(ASIA, {}, inference=np.ones(2), n_samples=5),
    ],
    "fill_empty_rows must be True or False": [
        lambda: bm.impute_multiple(TABLE, fill_empty_rows=np.zeros(0)),
    ],
    "weights must be numbers. Got object instead": [
        lambda: bm.learn(TABLE, weights=object()),
    ],
    "parent_sets must be ParentSets, as candidate_parents returns. Got dict": [
        lambda: bm.structure.solve(FULL),
        lambda: bm.structure.solve_order(FULL),
        lambda: bm.structure.solve_subsets(FULL),
        lambda: bm.structure.solve_ilp(FULL),
    ],
    "row weights that sum to at most 100,000,000. Got 120,000,000": [
        lambda: bm.learn_local(TABLE, weights=[30_000_000] * 4),
        lambda: bm.learn_exact(TABLE, weights=[30_000_000] * 4),
    ],
    "needs row weights that are whole numbers": [
        lambda: bm.learn_local(TABLE, weights=[1.5] * 4),
    ],
}


@pytest.mark.parametrize(
    ("message", "call"),
    [(message, call) for message, calls in WRONG.items() for call in calls],
)
def test_a_wrong_argument_is_named(message, call):
    with pytest.raises(BayesmendError, match=message):
        call()


def test_no_variables_have_no_families():
    assert len(Families.up_to(0, 2)) == 0


@pytest.mark.parametrize("name", ["no.bif", "no.json", "no.jkl", "no.bif.gz"])
def test_a_missing_file_is_named(name, tmp_path):
    reader = bm.formats.read_jkl if name.endswith("jkl") else bm.read_network
    with pytest.raises(DataError, match=f"cannot read '.*{name}': No such file"):
        reader(tmp_path / name)
    (tmp_path / name).mkdir()
    with pytest.raises(DataError, match=f"cannot read '.*{name}': Is a directory"):
        reader(tmp_path / name)


@pytest.mark.parametrize(("name", "label"), [(r"\ud800", "a"), ("v", r"\udfff")])
def test_halves_of_characters_are_refused(name, label):
    text = (
        '{"format": "bayesmend-network", "version": 1, "variables": [{"name": "NAME", '
        '"states": ["LABEL", "b"], "parents": [], "cpt": [[0.5, 0.5]]}]}'
    )
    with pytest.raises(FormatError, match="half of a character"):
        json.parse(text.replace("NAME", name).replace("LABEL", label))


def test_an_error_of_ours_is_a_value_error():
    with pytest.raises(ValueError, match="must be a list"):
        bm.Constraints(required=5)
    assert issubclass(ParameterError, BayesmendError)
