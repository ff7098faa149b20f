"""Two hundred varied calls of the public interface, as numbers and words to compare.

`CASES` maps the name of a call to a function that makes it and gives its answer in
plain types: scores and bounds as numbers, statuses and arcs as words, arrays of numbers
as their size and two sums, tables and texts as a digest. Nothing depends on the clock:
no call has a time limit that could be met.

What the package is asked goes through the functions below, one per name of the
interface, so that a name that changes is changed here in one line, and the record of
the answers stays as it was. ``tests/test_answers.py`` says how to record anew.
"""

import hashlib
import json
import math
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import bayesmend as bm
from bayesmend.formats.jkl import read_jkl, write_jkl

# The interface, by name.


def uniform(options):
    """The record knows of no prior over parent sets."""
    if isinstance(options.get("score"), bm.Score):
        return {**options, "score": replace(options["score"], prior="uniform")}
    return {**options, "prior": "uniform"}


def plain(options):
    """Nor of a cost of rows without an example."""
    options = uniform(options)
    if "prior" not in options:
        return {**options, "score": replace(options["score"], support=0.0)}
    return {**options, "support": 0.0}


def learn(data, **options):
    return bm.learn(data, fill_empty_rows=True, **plain(options))


def learn_exact(data, **options):
    return bm.learn_exact(data, **plain(options))


def learn_local(data, **options):
    return bm.learn_local(data, **plain(options))


def learn_em(data, *, restarts=10, **options):
    return bm.learn_em(data, restarts=restarts, **plain(options))


def learn_structure(data, **options):
    return bm.learn_structure(data, **uniform(options))


def solve(parent_sets, **options):
    return bm.structure.solve(parent_sets, **options)


def candidates(data, *, search="auto", **options):
    return bm.structure.candidate_parents(data, search=search, **uniform(options))


def reduce_to_complete(data, **options):
    return bm.learning.reduce_to_complete(data, **plain(options))


def solve_reduction(reduction, **options):
    return bm.learning.solve_reduction(reduction, **options)


def dag_score(dag, data, **options):
    return bm.dag_score(dag, data, **uniform(options))


def family_score(data, child, parents, **options):
    return bm.score.family_score(data, child, parents, **uniform(options))


def score_families(data, families, **options):
    return bm.score.score_families(data, families, **uniform(options))


def family_counts(data, child, parents):
    return bm.score.family_counts(data, child, parents)


def fit_complete(dag, data, *, estimate):
    return bm.Network.fit(dag, data, estimate=estimate)


def fit_parameters(dag, data, **options):
    return bm.fit_parameters(dag, data, **options)


def impute(network, data, *, fill="mpe", **options):
    return bm.impute(network, data, method=fill, fill_empty_rows=True, **options)


def marginals(network, data, *, inference="exact", **options):
    return bm.marginals(network, data, inference=inference, **options)


def most_probable(network, data, **options):
    return bm.most_probable(network, data, **options)


def draw_completions(network, data, *, inference="exact", **options):
    return bm.draw_completions(network, data, inference=inference, **options)


def log_evidence(network, data, *, inference="exact", **options):
    return bm.log_evidence(network, data, inference=inference, **options)


def query(network, targets, *, inference="exact", **options):
    return bm.query(network, targets, inference=inference, **options)


def hide(mechanism, *args, **options):
    return getattr(bm.hiding, f"hide_{mechanism}")(*args, **options)


def fit_discretization(table, cutting, **options):
    return bm.data.fit_discretization(table, cutting, **options)


def summary_of(data):
    """The record knows the sets of variables missing together by another name."""
    told = data.summary().to_dict()
    del told["columns"], told["missing_markers"]
    return {"patterns": told.pop("missing_together"), **told}


def margins_of(result):
    """What stands beside the states of mended cells: margins, or probabilities."""
    cells = result.cells
    return cells.margins if cells.probabilities is None else cells.probabilities


def chosen_by(result):
    """What `auto` chose, and why."""
    return result.chosen


# Answers in plain types.


def digest(content):
    content = content.encode() if isinstance(content, str) else content
    return hashlib.sha256(content).hexdigest()[:12]


def numbers(values):
    """How many, their sum, and one in which each has a weight of its own."""
    flat = np.asarray(values, float).ravel()
    finite = np.where(np.isfinite(flat), flat, 0.0)
    weights = np.cos(np.arange(flat.size))
    return [flat.size, math.fsum(finite), math.fsum(finite * weights)]


def arcs(dag):
    return " ".join(f"{parent}>{child}" for parent, child in dag.arcs)


def codes_of(data):
    """The digest of a table: its variables, their states and the cells."""
    head = json.dumps([data.names, data.states], default=str)
    return digest(head.encode() + np.ascontiguousarray(data.codes).tobytes())


def bounded(result):
    return {
        "score": result.score,
        "bound": result.bound if math.isfinite(result.bound) else None,
        "status": result.status,
    }


def learned(result):
    cells = result.cells
    return bounded(result) | {
        "arcs": arcs(result.dag),
        "completed": codes_of(result.completed),
        "runners_up": digest(cells.runners_up.astype(np.uint8).tobytes()),
        "margins": numbers(margins_of(result)),
        "cpts": numbers(np.concatenate([cpt.ravel() for cpt in result.network.cpts])),
        "trace": numbers([step.score for step in result.trace]),
        "method": result.method,
    }


def network_of(network):
    return {
        "arcs": arcs(network.dag),
        "states": digest(json.dumps(network.states)),
        "cpts": numbers(np.concatenate([cpt.ravel() for cpt in network.cpts])),
    }


def structure_of(result):
    answer = bounded(result) | {"solver": result.solver}
    # Which of several best structures SCIP meets first is the affair of its version.
    return answer if result.solver == "ilp" else answer | {"arcs": arcs(result.dag)}


def sets_of(sets):
    return {
        "n_sets": sets.n_sets,
        "offsets": digest(sets.offsets.astype(np.int64).tobytes()),
        "members": digest(sets.members.astype(np.int64).tobytes()),
        "scores": numbers(sets.scores),
    }


def imputed(result):
    return {
        "tables": [codes_of(table) for table in result.tables],
        "probabilities": numbers(result.cells.probabilities),
        "runners_up": digest(result.cells.runners_up.astype(np.uint8).tobytes()),
        "table": digest(repr(result.to_table())),
    }


def hidden(result):
    return {
        "data": codes_of(result.data),
        "rows": digest(result.rows.astype(np.int64).tobytes()),
        "counts": list(result.counts.values()),
        "truth": digest(result.true_codes.astype(np.uint8).tobytes()),
    }


# Tables and networks. The old generator of NumPy, whose stream never changes.


@cache
def table(n_vars=4, n_rows=30, *, states=(2, 3), rate=0.08, seed=0, kind="plain"):
    """A random table; each variable leans on the one before it."""
    random = np.random.RandomState(seed)
    card = [states[v % len(states)] for v in range(n_vars)]
    codes = np.zeros((n_rows, n_vars), np.uint8)
    for v, r in enumerate(card):
        free = random.randint(r, size=n_rows)
        follows = (random.rand(n_rows) < 0.7) & (v > 0)
        codes[:, v] = np.where(follows, codes[:, v - 1] % r, free)
    if kind == "constant":
        codes[:, 1] = 0
    if kind == "duplicates":
        codes = codes[random.randint(5, size=n_rows)]
    codes[_missing(random, codes.shape, rate, kind)] = bm.data.MISSING
    weights = random.randint(1, 4, n_rows).astype(float) if kind == "weights" else None
    return bm.IncompleteData.from_codes(
        codes,
        names=[f"v{v}" for v in range(n_vars)],
        states=[[f"s{k}" for k in range(r)] for r in card],
        weights=weights,
    )


def _missing(random, shape, rate, kind):
    holes = random.rand(*shape) < rate
    if kind == "column":
        holes[:, 1:] = False
        holes[:, 0] |= random.rand(shape[0]) < 3 * rate
    if kind == "row":
        holes[0] = True
    if kind == "tail":
        holes[:] = False
        holes[-2:, shape[1] // 2 :] = True
    return holes


def complete(*args, **options):
    return table(*args, **{"rate": 0.0} | options)


@cache
def network(name):
    return bm.load_network(name)


@cache
def sampled(name, n_rows, per_variable=0, seed=1, state=1):
    """A table drawn from a shipped network, with cells of one state hidden."""
    data = network(name).sample(n_rows, seed=seed)
    if not per_variable:
        return data
    return hide("value_per_variable", data, per_variable, state=state, seed=seed).data


@cache
def random_network(seed, n_vars=6, states=(2, 3, 5)):
    random = np.random.RandomState(seed)
    names = [f"v{v}" for v in range(n_vars)]
    pairs = [
        (names[i], names[j])
        for j in range(n_vars)
        for i in range(j)
        if random.rand() < 0.4
    ]
    dag = bm.Dag.from_arcs(names, pairs)
    card = [states[v % len(states)] for v in range(n_vars)]
    cpts = []
    for v, parents in enumerate(dag.parents):
        rows = math.prod(card[p] for p in parents)
        weights = random.randint(1, 9, size=(rows, card[v])).astype(float)
        cpts.append(weights / weights.sum(axis=1, keepdims=True))
    labels = tuple(tuple(f"s{k}" for k in range(r)) for r in card)
    return bm.Network(dag, labels, tuple(cpts))


@cache
def holed(seed, n_rows=12, rate=0.3):
    """Rows drawn from a random network, with holes that the old generator made."""
    data = random_network(seed).sample(n_rows, seed=seed)
    codes = data.codes.copy(order="F")
    codes[np.random.RandomState(seed).rand(*codes.shape) < rate] = bm.data.MISSING
    return data.with_codes(codes)


SMALL = {
    "pairs": lambda: table(3, 12, states=(2,), rate=0.1, seed=1),
    "mixed": lambda: table(4, 30, states=(2, 3), seed=2),
    "wide": lambda: table(6, 20, states=(2,), rate=0.05, seed=3),
    "many states": lambda: table(4, 25, states=(5, 2, 4), rate=0.06, seed=4),
    "constant": lambda: table(4, 24, kind="constant", seed=5),
    "duplicates": lambda: table(4, 40, kind="duplicates", seed=6),
    "weights": lambda: table(4, 20, kind="weights", seed=7),
    "one column": lambda: table(4, 25, kind="column", rate=0.1, seed=8),
    "empty row": lambda: table(4, 20, kind="row", rate=0.03, seed=9),
    "tail": lambda: table(5, 18, kind="tail", states=(2, 2, 3), seed=10),
    "full": lambda: complete(5, 40, seed=11),
    "asia": lambda: sampled("asia", 60, 1),
}
CONSTRAINTS = {
    "required": bm.Constraints(required=[("v0", "v2")]),
    "forbidden": bm.Constraints(forbidden=[("v0", "v1"), ("v1", "v0")]),
    "tiers": bm.Constraints(tiers=[["v3"], ["v0", "v1"]]),
    "limits": bm.Constraints(max_parents={"v1": 1, "v2": 0}),
}
SCORES = ("bdeu", "k2", "bic", "aic")

# The calls.

CASES = {}


def case(name, call, describe):
    assert name not in CASES, name
    CASES[name] = lambda: describe(call())


def add_learning():
    for name, data in SMALL.items():
        for method in ("exact", "local", "em", "em-hard"):
            case(
                f"learn {method}: {name}",
                lambda m=method, d=data: learn(
                    d(), method=m, max_parents=2, restarts=2, seed=3
                ),
                learned,
            )
        case(
            f"learn auto: {name}",
            lambda d=data: learn(d(), restarts=1, seed=1),
            lambda r: learned(r) | {"chosen": chosen_by(r)},
        )
    many = lambda: table(6, 60, rate=0.35, seed=20)  # noqa: E731
    case(
        "learn auto: many holes",
        lambda: learn(many(), restarts=1, seed=1),
        lambda r: learned(r) | {"chosen": chosen_by(r)},
    )
    lucas = lambda: sampled("lucas", 80, 1)  # noqa: E731
    case("learn local: lucas", lambda: learn(lucas(), method="local", seed=1), learned)
    for score in SCORES:
        for method in ("exact", "local", "em", "em-hard"):
            case(
                f"learn {method} by {score}",
                lambda m=method, s=score: learn(
                    SMALL["mixed"](), method=m, score=s, restarts=1, seed=5
                ),
                learned,
            )
    for name, known in CONSTRAINTS.items():
        for method in ("exact", "local", "em"):
            case(
                f"learn {method} with constraints: {name}",
                lambda m=method, k=known: learn(
                    SMALL["mixed"](), method=m, constraints=k, restarts=1, seed=2
                ),
                learned,
            )
    for seed in range(3):
        case(
            f"learn local from seed {seed}",
            lambda s=seed: learn_local(SMALL["wide"](), restarts=3, seed=s),
            learned,
        )
    for limit in (0, 1, 4):
        case(
            f"learn exact with {limit} parents",
            lambda k=limit: learn_exact(SMALL["tail"](), max_parents=k, seed=1),
            learned,
        )
    case(
        "learn exact within a gap",
        lambda: learn_exact(SMALL["many states"](), gap=5.0, seed=1),
        learned,
    )
    case(
        "learn exact with few nodes",
        lambda: learn_exact(sampled("asia", 80, 2), node_limit=3, seed=1),
        learned,
    )
    case(
        "learn exact with a large ess",
        lambda: learn_exact(SMALL["mixed"](), ess=10.0, seed=1),
        learned,
    )
    case(
        "learn exact with a penalty",
        lambda: learn_exact(
            SMALL["mixed"](), score=bm.Score("bdeu", arc_penalty=2.0), seed=1
        ),
        learned,
    )
    for solver in ("greedy", "order", "subsets"):
        case(
            f"learn local by {solver}",
            lambda s=solver: learn_local(
                SMALL["mixed"](), solver=s, restarts=1, seed=4
            ),
            learned,
        )
        case(
            f"learn em by {solver}",
            lambda s=solver: learn_em(SMALL["mixed"](), solver=s, restarts=1, seed=4),
            learned,
        )
    case(
        "learn local, two cells at once",
        lambda: learn_local(SMALL["pairs"](), locality=2, restarts=1, seed=1),
        learned,
    )
    case(
        "learn local from em",
        lambda: learn_local(SMALL["wide"](), starts=("em", "mode"), seed=1),
        learned,
    )
    case(
        "learn local from a completion",
        lambda: learn_local(
            SMALL["pairs"](),
            start=np.where(
                SMALL["pairs"]().missing_mask, 0, SMALL["pairs"]().codes
            ).astype(np.uint8),
            restarts=0,
            seed=1,
        ),
        learned,
    )
    for start in ("empty", "complete", "mode", "random"):
        case(
            f"learn em from {start}",
            lambda s=start: learn_em(SMALL["wide"](), starts=(s,), restarts=0, seed=1),
            learned,
        )


def add_structure():
    for solver in ("auto", "subsets", "ilp", "order", "greedy"):
        for score in SCORES if solver != "ilp" else SCORES[:2]:
            case(
                f"structure by {solver} and {score}",
                lambda s=solver, r=score: learn_structure(
                    complete(5, 60, seed=31), solver=s, score=r, seed=1
                ),
                structure_of,
            )
    for solver in ("auto", "order", "greedy"):
        case(
            f"structure of lucas by {solver}",
            lambda s=solver: learn_structure(sampled("lucas", 100), solver=s, seed=2),
            structure_of,
        )
    for name, known in CONSTRAINTS.items():
        case(
            f"structure with constraints: {name}",
            lambda k=known: learn_structure(
                complete(5, 60, seed=32), constraints=k, seed=1
            ),
            structure_of,
        )
    case(
        "structure from promising sets",
        lambda: learn_structure(sampled("lucas", 100), max_sets=40, seed=3),
        structure_of,
    )
    for search, most in (("all", {}), ("promising", {"max_sets": 50})):
        case(
            f"candidate parents: {search}",
            lambda s=search, m=most: candidates(
                sampled("asia", 100), search=s, max_parents=3, **m
            ),
            sets_of,
        )
    for solver in ("subsets", "ilp", "order"):
        case(
            f"solve by {solver}",
            lambda s=solver: solve(candidates(sampled("asia", 80)), solver=s, seed=1),
            structure_of,
        )
    for name in ("pairs", "constant", "one column"):
        case(
            f"reduction: {name}",
            lambda d=SMALL[name]: reduce_to_complete(d(), max_parents=1),
            lambda r: sets_of(r.parent_sets) | {"penalty": r.penalty},
        )
    case(
        "reduction, solved",
        lambda: solve_reduction(
            reduce_to_complete(SMALL["pairs"](), max_parents=1), seed=1
        ),
        lambda r: bounded(r) | {"completed": codes_of(r.completed)},
    )


def add_scores():
    asia = lambda: sampled("asia", 200)  # noqa: E731
    for score in (*SCORES, "loglik"):
        case(
            f"score of a graph by {score}",
            lambda s=score: dag_score(network("asia").dag, asia(), score=s),
            float,
        )
    case(
        "score of families",
        lambda: score_families(
            asia(), [("dysp", ["bronc", "either"]), ("xray", []), ("lung", ["smoke"])]
        ),
        numbers,
    )
    case(
        "score of one family, weighted",
        lambda: family_score(
            complete(4, 20, kind="weights", seed=41), "v1", ["v0"], ess=2.0
        ),
        float,
    )
    case(
        "counts of a family",
        lambda: family_counts(asia(), "dysp", ["bronc", "either"]),
        numbers,
    )
    for estimate in ("mle", "posterior"):
        case(
            f"fit to complete data: {estimate}",
            lambda e=estimate: fit_complete(network("asia").dag, asia(), estimate=e),
            network_of,
        )
        case(
            f"fit to incomplete data: {estimate}",
            lambda e=estimate: fit_parameters(
                random_network(1).dag, holed(1, 60), estimate=e
            ),
            lambda f: (
                network_of(f.network)
                | {"log_likelihood": numbers(f.log_likelihood), "settled": f.converged}
            ),
        )
    case(
        "log-likelihood of rows",
        lambda: network("asia").log_likelihood(asia()),
        numbers,
    )
    known = lambda: learn_structure(asia(), seed=1).dag  # noqa: E731
    case(
        "distances of graphs",
        lambda: (known(), network("asia").dag),
        lambda pair: {
            "hamming": bm.structural_hamming_distance(*pair),
            "skeleton": numbers(
                [
                    bm.graph.skeleton_scores(*pair).precision,
                    bm.graph.skeleton_scores(*pair).recall,
                    bm.graph.skeleton_scores(*pair).f1,
                ]
            ),
            "cpdag": str(pair[0].cpdag()),
        },
    )


def add_inference():
    for seed in range(3):
        for fill in ("mpe", "marginal", "draw"):
            case(
                f"impute {fill}, network {seed}",
                lambda k=seed, f=fill: impute(
                    random_network(k),
                    holed(k),
                    fill=f,
                    seed=7,
                    **({"n_draws": 3} if f == "draw" else {}),
                ),
                imputed,
            )
        case(
            f"marginals, network {seed}",
            lambda k=seed: marginals(random_network(k), holed(k)),
            lambda m: numbers(np.concatenate([p.ravel() for p in m.probabilities])),
        )
        case(
            f"most probable, network {seed}",
            lambda k=seed: most_probable(random_network(k), holed(k)),
            lambda e: {
                "completed": codes_of(e.completed),
                "log_probability": numbers(e.log_probability),
            },
        )
        case(
            f"completions drawn, network {seed}",
            lambda k=seed: draw_completions(
                random_network(k), holed(k), n_draws=2, seed=k
            ),
            lambda tables: [codes_of(t) for t in tables],
        )
        for inference in ("exact", "weighting"):
            case(
                f"log-evidence by {inference}, network {seed}",
                lambda k=seed, i=inference: log_evidence(
                    random_network(k),
                    holed(k),
                    inference=i,
                    seed=1,
                    **({"n_samples": 500} if i == "weighting" else {}),
                ),
                numbers,
            )
    for fill in ("marginal", "draw"):
        case(
            f"impute {fill} by weighting",
            lambda f=fill: impute(
                random_network(1),
                holed(1),
                fill=f,
                inference="weighting",
                n_samples=500,
                seed=1,
            ),
            imputed,
        )
    case(
        "marginals by weighting",
        lambda: marginals(
            random_network(2),
            holed(2),
            inference="weighting",
            n_samples=500,
            targets=["v1", "v3"],
            seed=1,
        ),
        lambda m: [
            numbers(np.concatenate([p.ravel() for p in m.probabilities])),
            numbers(m.effective_samples),
        ],
    )
    case(
        "impute a column that is absent",
        lambda: impute(
            network("asia"), {"smoke": ["yes", "no", None]}, allow_absent=True
        ),
        imputed,
    )
    questions = {
        "one": {"targets": "lung", "given": {"dysp": "yes"}},
        "none given": {"targets": ["tub", "xray"]},
        "all": {"targets": None, "given": {"xray": "yes", "smoke": "no"}},
    }
    for name, question in questions.items():
        for inference in ("exact", "weighting"):
            case(
                f"query by {inference}: {name}",
                lambda q=question, i=inference: query(
                    network("asia"),
                    inference=i,
                    joint=i == "exact" and q["targets"] is not None,
                    **({"n_samples": 2000, "seed": 1} if i == "weighting" else {}),
                    **q,
                ),
                lambda a: {
                    "probability": a.probability,
                    "distributions": numbers(
                        [p for d in a.distributions.values() for p in d.values()]
                    ),
                    "joint": None if a.joint is None else numbers(a.joint),
                },
            )


def add_hiding_and_sampling():
    data = lambda: sampled("asia", 150)  # noqa: E731
    hidings = {
        "mcar": ((0.2,), {}),
        "mcar of two": (("mcar", 0.5), {"variables": ["smoke", "xray"]}),
        "mar": ((0.2,), {"depends_on": ["smoke"]}),
        "mar with odds": (
            ("mar", 0.3),
            {"depends_on": ["smoke"], "odds": {"smoke": {"yes": 3.0, "no": 1.0}}},
        ),
        "mnar": ((0.2,), {}),
        "mnar, stronger": (("mnar", 0.2), {"strength": 3.0}),
        "value_of": (("smoke", 7, "yes"), {}),
        "value_per_variable": ((2,), {"state": 1}),
    }
    for name, (args, options) in hidings.items():
        mechanism, *rest = args if args[0] in ("mcar", "mar", "mnar") else (name, *args)
        case(
            f"hide {name}",
            lambda m=mechanism, r=rest, o=options: hide(m, data(), *r, seed=4, **o),
            hidden,
        )
    case(
        "accuracy of a completion",
        lambda: hide("mcar", data(), 0.3, seed=2).accuracy(
            network("asia").sample(150, seed=9)
        ),
        float,
    )
    for name in ("asia", "lucas"):
        case(f"sample {name}", lambda n=name: network(n).sample(97, seed=3), codes_of)
    case("sample at random", lambda: random_network(5).sample(50, seed=1), codes_of)


def in_folder(work):
    with tempfile.TemporaryDirectory() as folder:
        return work(Path(folder))


def written(name, net):
    def work(folder):
        bm.write_network(net, folder / name)
        text = (folder / name).read_text(encoding="utf-8")
        if name.endswith(".dot"):
            return {"text": digest(text)}
        return network_of(bm.read_network(folder / name)) | {"text": digest(text)}

    return in_folder(work)


CSV = "a,b,c\nx,1,0.5\ny,,1.5\nx,2,NA\n,1,2.5\ny,2,3.5\nx,1,0.25\n"


def csv_through(folder, **options):
    (folder / "in.csv").write_text(CSV)
    data = bm.IncompleteData.from_csv(folder / "in.csv", **options)
    data.write_csv(folder / "out.csv", fill="interval")
    return codes_of(data) + " " + digest((folder / "out.csv").read_text())


def add_files():
    for suffix in ("bif", "xmlbif", "json", "graphml", "dot"):
        case(
            f"write and read {suffix}",
            lambda s=suffix: written(f"net.{s}", random_network(3)),
            dict,
        )
    case("read shipped networks", lambda: network("lucas"), network_of)

    def through_jkl(folder):
        write_jkl(candidates(sampled("asia", 60)), folder / "asia.jkl")
        return read_jkl(folder / "asia.jkl")

    case("write and read jkl", lambda: in_folder(through_jkl), sets_of)
    case("csv", lambda: in_folder(csv_through), str)
    case(
        "csv with intervals",
        lambda: in_folder(lambda f: csv_through(f, discretize={"c": 2})),
        str,
    )
    columns = {"a": ["x", None, "y", "x"], "b": [1, 2, None, 1]}
    case(
        "table from a mapping", lambda: bm.IncompleteData.from_table(columns), codes_of
    )
    case(
        "table from an array",
        lambda: bm.IncompleteData.from_table(
            np.array([["x", "1"], ["?", "2"], ["y", ""]], object), missing=["?", ""]
        ),
        codes_of,
    )
    for module in ("pandas", "polars"):
        case(
            f"learn from {module}",
            lambda m=module: learn(
                pytest.importorskip(m).DataFrame(columns), method="exact", seed=1
            ),
            lambda r: learned(r) | {"kind": type(r.completed.to_table()).__module__},
        )
    case(
        "patterns of rows",
        lambda: SMALL["duplicates"]().patterns(),
        lambda p: [
            digest(np.ascontiguousarray(p.codes).tobytes()),
            numbers(p.counts),
            numbers(p.inverse),
        ],
    )
    case("summary", lambda: SMALL["weights"]().summary(), lambda s: digest(str(s)))
    case(
        "summary in plain types",
        lambda: summary_of(SMALL["mixed"]()),
        lambda d: digest(json.dumps(d, sort_keys=True)),
    )
    ages = {"age": [20, 34.5, None, 71, 48, 33, 19, 62], "b": list("xyxyxyxy")}
    for by in ("quantile", "uniform"):
        case(
            f"intervals: {by}",
            lambda b=by: fit_discretization(ages, {"age": 3}, by=b),
            lambda d: [numbers(d.cuts[0]), " ".join(d.labels("age"))],
        )
    case(
        "table with intervals",
        lambda: bm.IncompleteData.from_table(ages, discretize={"age": [30, 60]}),
        codes_of,
    )


add_learning()
add_structure()
add_scores()
add_inference()
add_hiding_and_sampling()
add_files()
