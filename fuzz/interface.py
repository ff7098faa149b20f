"""Public functions with arguments of any kind, in any place."""

import contextlib
import functools
import io
import math
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import bayesmend as bm

WEIRD = (
    None,
    True,
    False,
    0,
    1,
    -1,
    3,
    10**6,
    2**31,
    2**62,
    2**63,
    2**70,
    -(2**70),
    10**400,
    0.0,
    0.5,
    -0.5,
    1e-9,
    1e300,
    5e-324,
    math.inf,
    -math.inf,
    math.nan,
    1j,
    "",
    "a",
    "b",
    "abc",
    "auto",
    "exact",
    "bdeu",
    "yes",
    "\x1b[2J",
    "x" * 5000,
    b"a",
    (),
    [],
    {},
    set(),
    [None],
    [5],
    ["a"],
    ["a", "a"],
    [["a", "b"]],
    [("a", "b")],
    [("a", "b"), ("b", "a")],
    {"a": 1},
    {"a": None},
    {"a": ["x"]},
    {5: 6},
    {"forbidden": [("a", "b")]},
    {"required": [("a", "b"), ("b", "a")]},
    {"tiers": [["a"], ["b"]]},
    range(3),
    object(),
    np.nan,
    np.int64(2),
    np.zeros(0),
    np.zeros((2, 2)),
    np.array("a"),
    np.array([None]),
    np.datetime64("NaT"),
    Ellipsis,
    Path("/nowhere"),
    Path("/dev/null"),
)


@functools.cache
def values() -> dict[str, Any]:
    """Arguments as they should be."""
    rng = np.random.default_rng(1)
    full = rng.choice(["x", "y"], (25, 4)).astype(object)
    holed = np.where(rng.random((25, 4)) < 0.15, None, full)
    complete = {name: full[:, j].tolist() for j, name in enumerate("abcd")}
    incomplete = {name: holed[:, j].tolist() for j, name in enumerate("abcd")}
    data = bm.IncompleteData.from_table(incomplete)
    dag = bm.Dag.from_arcs("abcd", [("a", "b"), ("c", "b")])
    network = bm.Network.fit(dag, complete, estimate="posterior", ess=1)
    reduction = bm.learning.reduce_to_complete(
        {"a": ["x", "y"] * 4, "b": ["u", "v", None, "v"] * 2}, max_parents=1
    )
    return {
        "complete": complete,
        "incomplete": incomplete,
        "data": data,
        "dag": dag,
        "network": network,
        "result": bm.learn(data, seed=1),
        "reasons": bm.learn_em(data, mechanism="self", restarts=0, seed=1),
        "ensemble": bm.learn_ensemble(data, n_networks=2, classes=[2], seed=1),
        "reduction": reduction,
        "sets": bm.structure.candidate_parents(complete, max_parents=2),
        "array": np.array([["u", "v"], ["v", None], ["u", "u"]], dtype=object),
        "constraints": bm.Constraints(forbidden=[("a", "b")]),
        "score": bm.Score("bic"),
    }


LEARNING = {
    "score": ["bdeu", "bic", "k2", "aic", "qnml", "loglik", "bds"],
    "ess": [None, 1.0, 10],
    "prior": [None, "fair", "uniform"],
    "support": [None, 0.0, 0.5],
    "max_parents": [0, 1, 3, 100],
    "constraints": [None, {"forbidden": [("a", "b")]}],
    "seed": [None, 1],
    "n_threads": [0, 1, 2],
    "weights": [None, [1] * 25, [0] * 25],
}
SEARCH = {
    **LEARNING,
    "locality": [1, 2],
    "restarts": [0, 2],
    "time_limit": [0.05, 1e-6],
}
ASKING = {
    "inference": ["exact", "weighting"],
    "n_samples": [None, 100],
    "seed": [None, 1],
    "n_threads": [0, 2],
    "unknown": ["error", "missing"],
    "allow_absent": [True, False],
}
# What is done many times over is asked for few times.
REPEATED = {
    "time_limit": [0.3, 0.6],
    "max_memory": [1e3, 2.0**30],
    "n_threads": [0, 1, 2],
    "seed": [None, 1],
}
MECHANISM = {
    "mechanism": ["ignore", "auto", "self", {"a": ["b"]}, {"a": "ignore"}],
    "max_mechanism_parents": [0, 2],
}
# With large numbers for these, a call is asked to go on for long.
LIMITS = ("time_limit", "n_repeats")
HIDING = {"variables": [None, ["a"]], "seed": [1], "strict": [True, False]}

Call = tuple[Callable[..., Any], tuple[Any, ...], dict[str, list[Any]]]


@functools.cache
def calls() -> list[Call]:
    """What is called: a function, its arguments in order, and its options."""
    v = values()
    holed, full, net, dag = v["incomplete"], v["complete"], v["network"], v["dag"]
    read = bm.IncompleteData.from_table
    solvers = {"solver": ["auto", "subsets", "ilp", "order", "greedy"]}
    limit = {"time_limit": [0.05, 0.3]}
    reading = {
        "states": [None, {"a": ["x", "y", "z"]}],
        "missing": [None, "?", ["x"]],
        "discretize": ["auto", None, {"a": 2}],
        "columns": [None, {"a": "model"}],
        "names": [None, ["p", "q", "r", "s"]],
        "weights": [None, [1.0] * 25, "a"],
    }
    s, d, g, h, i = bm.structure, bm.data, bm.graph, bm.hiding, bm.inference
    return [
        (
            bm.learn,
            (holed,),
            {
                **SEARCH,
                **MECHANISM,
                "method": ["auto", "exact", "local", "em", "em-hard", "ensemble"],
            },
        ),
        (
            bm.learn_exact,
            (holed,),
            {**SEARCH, **MECHANISM, "gap": [0.0, 1.0], "node_limit": [None, 5]},
        ),
        (bm.learn_local, (holed,), {**SEARCH, **MECHANISM, **solvers}),
        (
            bm.learn_em,
            (holed,),
            {
                **LEARNING,
                **MECHANISM,
                **limit,
                "restarts": [0, 1],
                "max_iter": [2],
                "stability": [0, 2],
                "full": [True, False],
            },
        ),
        (
            bm.learn_ensemble,
            (holed,),
            {
                **LEARNING,
                **REPEATED,
                "n_networks": [1, 3],
                "classes": [[], [2], [2, 3]],
                "class_starts": [1, 2],
                "tol": [0.0, 0.1],
                "threshold": ["auto", 0.0, 0.5, 1.0],
                "mechanism": ["auto", "self", {"a": ["a"]}],
                "resume": [v["ensemble"]],
            },
        ),
        (
            bm.bootstrap,
            (holed,),
            {
                **LEARNING,
                **REPEATED,
                "n": [1, 3],
                "method": ["auto", "exact", "local", "em", "em-hard"],
                "restarts": [0, 1],
                "solver": ["greedy", "order"],
            },
        ),
        (
            bm.cross_validate,
            (holed,),
            {
                **REPEATED,
                "methods": [["em"], ["mode", "local"], {"net": lambda *_, **__: net}],
                "mechanism": ["mcar", "mar", functools.partial(bm.hide_mcar, rate=0.1)],
                "rate": [0.1, 0.5],
                "n_repeats": [1, 2],
            },
        ),
        (bm.learning.innocence, (holed,), {"n_permutations": [1, 19], "seed": [1]}),
        (
            bm.learning.sensitivity,
            (v["result"], "a"),
            {"tilt": [(-1.0, 1.0), (0, 0)], "n_tilts": [1, 3], "max_memory": [2.0**30]},
        ),
        (bm.learning.sensitivity, (v["reasons"], "b"), {"tilt": [(0.0, 2.0)]}),
        (
            bm.learn_structure,
            (full,),
            {
                **_without(LEARNING, "support"),
                **solvers,
                **limit,
                "ess": [None, 1.0, "auto"],
                "max_sets": [None, 5],
                "gap": [None, 0.0, 2.0],
            },
        ),
        (bm.fit_parameters, (dag, holed), {"ess": [None, 1], "max_iter": [5], **limit}),
        (
            bm.impute,
            (net, holed),
            {**ASKING, "method": ["mpe", "mode", "draw"], "n_draws": [1, 2]},
        ),
        (bm.marginals, (net, holed), {**ASKING, "targets": [None, "a", ["a", "b"]]}),
        (bm.most_probable, (net, holed), {"unknown": ["error", "missing"]}),
        (bm.draw_completions, (net, holed), {**ASKING, "n_draws": [1, 3]}),
        (bm.log_evidence, (net, holed), {"n_threads": [1]}),
        (
            bm.query,
            (net, "a"),
            {**ASKING, "given": [None, {"b": "x"}], "joint": [True, False]},
        ),
        (bm.hide_mcar, (full, 0.2), HIDING),
        (
            bm.hide_mar,
            (full, 0.2),
            {**HIDING, "depends_on": [["a"], ["a", "b"]], "strength": [2.0]},
        ),
        (bm.hide_mnar, (full, 0.2), {**HIDING, "strength": [2.0, 0.5]}),
        (h.hide_value_of, (full, "a", 2), {"value": ["x", None], "seed": [1]}),
        (h.hide_value_per_variable, (full, 1), {"state": [0, 1], "seed": [1]}),
        (
            bm.dag_score,
            (dag, full),
            {"score": ["bdeu", "bds", "qnml"], "ess": [None, 2]},
        ),
        (bm.score.family_score, (full, "a", ["b"]), {"score": ["bds", "k2", "qnml"]}),
        (bm.score.family_counts, (full, "a", ["b"]), {}),
        (bm.score.score_families, (full, [("a", ["b"])]), {"n_threads": [1]}),
        (bm.score.Families.up_to, (4, 2), {}),
        (bm.score.Score, ("bdeu",), {"ess": [1.0], "arc_penalty": [0.0, 1.0]}),
        (
            bm.Constraints,
            (),
            {
                "required": [[("a", "b")]],
                "tiers": [[["a"], ["b"]]],
                "max_parents": [{"a": 1}],
            },
        ),
        (bm.Dag.from_arcs, (["a", "b"], [("a", "b")]), {}),
        (bm.Network, (dag, net.states, net.cpts), {}),
        (bm.Network.fit, (dag, full), {"estimate": ["mle", "posterior"]}),
        (net.sample, (5,), {"seed": [1], "n_threads": [1]}),
        (net.log_likelihood, (full,), {}),
        (net.cpt, ("a",), {}),
        (dag.d_separated, ("a", "c"), {"given": [["b"], []]}),
        (g.skeleton_scores, (dag, dag), {}),
        (bm.structural_hamming_distance, (dag, dag), {}),
        (bm.graph.compare_graphs, (dag, dag), {}),
        *_plots(v),
        (bm.compare_mended, (holed, v["result"].completed), {}),
        (bm.summary, (holed,), {}),
        (read, (holed,), reading),
        (
            read,
            (v["array"],),
            {k: reading[k] for k in ("missing", "names", "discretize")},
        ),
        (
            d.fit_discretization,
            ({"n": [1.5, 2.5, 3.5, 9.0]}, {"n": 2}),
            {"by": ["quantile", "uniform"]},
        ),
        (
            s.candidate_parents,
            (full,),
            {
                "max_parents": [1, 2],
                "search": ["auto", "all", "promising"],
                "max_sets": [None, 3],
            },
        ),
        (s.solve, (v["sets"],), {**solvers, **limit, "seed": [1]}),
        (
            s.solve_order,
            (v["sets"],),
            {"restarts": [1], "patience": [3], "max_window": [1, 3], **limit},
        ),
        (s.solve_subsets, (v["sets"],), limit),
        (s.solve_ilp, (v["sets"],), {**limit, "gap": [0.0]}),
        (s.best_through, (v["sets"],), {}),
        (
            s.climb,
            (full,),
            {
                **_without(LEARNING, "support"),
                **limit,
                "restarts": [0, 3],
                "tabu_length": [0, 5],
                "start": [None, dag],
            },
        ),
        (
            s.structure_posterior,
            (full,),
            {
                **_without(LEARNING, "support"),
                **limit,
                "method": ["auto", "exact", "partition"],
                "n_dags": [5, 50],
                "n_chains": [1, 2],
                "steps": [None, 20],
            },
        ),
        (
            bm.impute_multiple,
            (holed, 2),
            {
                **_without(LEARNING, "support"),
                **limit,
                "method": ["partition", "bootstrap"],
                "n_chains": [1, 2],
                "burn_in": [1, 2],
                "thin": [1, 3],
                "fill": ["number", "interval"],
                "fill_empty_rows": [True, False],
            },
        ),
        (
            bm.pool,
            ([1.0, 2.0, 1.5], [0.1, 0.2, 0.1]),
            {"df": [None, 10.0], "level": [0.9]},
        ),
        (
            s.ParentSets.from_lists,
            (["a", "b"], [[(-1.0, ())], [(-2.0, ()), (-1.0, (0,))]]),
            {},
        ),
        (
            bm.learning.reduce_to_complete,
            (holed,),
            {"max_parents": [1], "score": ["bdeu"]},
        ),
        (
            bm.learning.solve_reduction,
            (v["reduction"],),
            {**solvers, **limit, "seed": [1], "n_threads": [0, 2]},
        ),
        (bm.load_network, ("asia",), {}),
        (bm.datasets.load_truth, ("patients",), {}),
        (bm.datasets.table_path, ("patients",), {}),
        (bm.impute, (v["ensemble"], holed), ASKING),
        (bm.query, (v["ensemble"], "a"), {"given": [None, {"b": "x"}]}),
        (bm.impute, (v["reasons"].network, holed), ASKING),
        (bm.marginals, (v["reasons"].network, holed), {"targets": [None, "a"]}),
        (
            bm.query,
            (v["reasons"].network, "a"),
            {"given": [None, {"b": "x"}, {"missing:b": "yes"}], "joint": [True, False]},
        ),
        (v["reasons"].network.sample, (5,), {"seed": [1]}),
        (v["ensemble"].consensus, (), {"threshold": ["auto", 0.5]}),
        (v["ensemble"].arc_probabilities().arc, ("a", "b"), {}),
        (v["ensemble"].arc_probabilities().arcs, (0.5,), {}),
        (s.posterior_memory, (5,), {"n_threads": [0, 2]}),
        (s.subsets_memory, (5,), {"through": [True, False]}),
        (s.choose_solver, (5, 50), {}),
        (i.impute, (net, v["data"]), {"method": ["mpe"], "fill_empty_rows": [True]}),
        (
            bm.report.render_report,
            (v["result"],),
            {
                "title": ["t"],
                "notes": [{"a": "b"}],
                "options": [{"seed": 1}],
                "calls": [{"python": "bm.learn(table)"}],
            },
        ),
        (bm.report.render_report, (v["ensemble"],), {}),
        (bm.notebook.as_html, (v["result"],), {}),
        (bm.notebook.as_html, (v["ensemble"],), {}),
        (
            bm.notebook.NetworkView,
            (v["result"],),
            {"evidence": [None, {"a": "x"}], "selected": [None, "a"]},
        ),
        (v["data"].to_table, (), {"fill": ["number", "interval"]}),
        (v["data"].head, (3,), {}),
        (_written, ("t.csv",), {"safe": [True, False]}),
        (_files_filled, ("t.csv",), {**ASKING, "method": ["mpe", "draw"]}),
        (_network_written, ("n.bif",), {}),
        (_ensemble_written, (v["ensemble"], "e.json"), {}),
        (_result_written, (v["result"], "r.json"), {}),
        (_sets_written, (v["sets"], "s.jkl"), {}),
        (_report_written, (v["result"], "r.html"), {"title": ["t"]}),
        (_kept, (holed,), {"n": [1, 3], "method": ["em"], "time_limit": [0.3, 1.0]}),
    ]


def _plots(v: dict[str, Any]) -> list[Any]:
    """Return the plots, each on axes of a figure that is not kept, if matplotlib is."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return []
    ax = {"ax": [Figure().subplots()]}
    difference = bm.graph.compare_graphs(v["dag"], v["dag"])
    reasons = bm.learning.sensitivity(v["reasons"], "a", n_tilts=2)
    return [
        (bm.plot.missing, (v["incomplete"],), {"most": [1, 10], **ax}),
        (bm.plot.patterns, (v["incomplete"],), {"most": [1, 10], **ax}),
        (bm.plot.network, (v["network"],), ax),
        (bm.plot.difference, (difference,), ax),
        (bm.plot.arcs, (v["ensemble"],), {"most": [1, 10], **ax}),
        (bm.plot.trace, (v["reasons"],), ax),
        (bm.plot.mechanism, (v["reasons"],), {"variables": [None, ["a"]], **ax}),
        (bm.plot.sensitivity, (reasons,), ax),
        (bm.plot.colour_of, ("em",), {}),
    ]


def _without(options: dict[str, list[Any]], name: str) -> dict[str, list[Any]]:
    return {key: each for key, each in options.items() if key != name}


@contextlib.contextmanager
def _placed(name: Any) -> Iterator[Any]:
    """Give a path in a folder of its own, where the name can be one."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder, name) if isinstance(name, str) and name else name


def _written(name: Any, **options: Any) -> None:
    with _placed(name) as path:
        values()["data"].write_csv(path, **options)


def _files_filled(name: Any, **options: Any) -> None:
    with _placed(name) as path, tempfile.TemporaryDirectory() as folder:
        values()["data"].write_csv(path)
        bm.inference.impute_files(values()["network"], [path], folder, **options)


def _network_written(name: Any) -> None:
    with _placed(name) as path:
        bm.write_network(values()["network"], path)
        bm.read_network(path)


def _ensemble_written(ensemble: Any, name: Any) -> None:
    with _placed(name) as path:
        bm.write_ensemble(ensemble, path)
        bm.read_ensemble(path)
        bm.formats.read_model(path)


def _result_written(result: Any, name: Any) -> None:
    with _placed(name) as path:
        bm.write_result(result, path)
        bm.read_result(path)


def _sets_written(sets: Any, name: Any) -> None:
    with _placed(name) as path:
        bm.formats.write_jkl(sets, path)
        bm.formats.read_jkl(path)


def _report_written(result: Any, name: Any, **options: Any) -> None:
    with _placed(name) as path:
        bm.report.write_report(result, path, **options)


def _kept(table: Any, **options: Any) -> None:
    """Learn with a checkpoint, and again from what that has kept."""
    with tempfile.TemporaryDirectory() as folder:
        first = bm.bootstrap(table, checkpoint=folder, **options)
        again = bm.bootstrap(table, checkpoint=folder, **options)
        assert first.stopped or again.structures == first.structures


def prepare() -> None:
    calls()


def attempt(rng: np.random.Generator) -> str:
    function, given, options = calls()[rng.integers(len(calls()))]
    arguments = list(given)
    chosen = {
        name: each[rng.integers(len(each))]
        for name, each in options.items()
        if rng.random() < 0.3 or name in ("time_limit", "depends_on")
    }
    places: list[int | str] = [*range(len(arguments)), *options]
    n_wrong = int(rng.choice([0, 1, 1, 1, 2, 3]))
    for place in rng.permutation(np.array(places, dtype=object))[:n_wrong].tolist():
        value = _anything(rng)
        if isinstance(place, int):
            arguments[place] = value
        elif place not in LIMITS or not _is_long(value):
            chosen[place] = value
    if rng.random() < 0.02 and len(arguments) > 1:
        arguments.reverse()
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            answer = function(*arguments, **chosen)
            repr(answer)
    finally:
        if (pyplot := sys.modules.get("matplotlib.pyplot")) is not None:
            pyplot.close("all")  # of more than 20 figures it warns
    return "answered"


def _anything(rng: np.random.Generator) -> Any:
    if rng.random() < 0.3:
        right = list(values().values())
        return right[rng.integers(len(right))]
    return WEIRD[rng.integers(len(WEIRD))]


def _is_long(value: Any) -> bool:
    """Tell whether a time limit would be none, or more than an input may take."""
    is_number = isinstance(value, int | float | np.number)
    return value is None or (is_number and not value <= 1)
