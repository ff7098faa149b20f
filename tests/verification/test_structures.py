"""Proofs of structures: what the checker works out, and that it believes no lie."""

import contextlib
import gzip
import json
import math
import re
from itertools import cycle

import numpy as np
import pytest
from support import mutations, oracle
from support.clirunner import ok, run
from support.mutations import STRUCTURE_MUTATIONS, Files
from support.strategies import linked_rows, random_lists

from bayesmend import learn
from bayesmend.errors import DataError, ShortfallWarning
from bayesmend.formats.jkl import write_jkl
from bayesmend.graph.constraints import Constraints
from bayesmend.outcome import Stopped
from bayesmend.structure import ParentSets, dual, learn_structure, solve
from bayesmend.verification import verify
from bayesmend.verification.dags import Programme
from bayesmend.verification.families import Family, Scores, Table
from bayesmend.verification.lies import Lie
from bayesmend.verification.problems import from_proof
from bayesmend.verification.structures import check_structure, families_of_table
from bayesmend.verification.units import BITS, to_units

SLOW = pytest.mark.slow


def random_cuts(n_vars, n_cuts, rng):
    """Clusters, and halves of what came before, as a proof lists them."""
    cuts = []
    for number in range(n_cuts):
        if number < 3 or rng.random() < 0.4:
            size = int(rng.integers(1, n_vars + 1))
            cuts.append([rng.permutation(n_vars)[:size].tolist()])
            continue
        parts = rng.integers(0, number, rng.integers(0, 5)).tolist()
        variables = rng.permutation(n_vars)[: rng.integers(0, n_vars + 1)].tolist()
        times = rng.integers(-3, 4, len(variables)).tolist()
        cuts.append([parts, variables, times])
    return cuts


def families_of(lists):
    """Candidates as the checker takes them: by mask, in units."""
    return [
        {sum(1 << p for p in parents): to_units(score) for score, parents in own}
        for own in lists
    ]


def best_of(lists):
    return to_units(oracle.best_total(lists)) - len(lists)  # for rounding


def check_random_multipliers(seed):
    """No cuts and multipliers whatever prove a bound below the best of all DAGs."""
    rng = np.random.default_rng(seed)
    n_vars = int(rng.integers(1, 5))
    lists = random_lists(n_vars, 6, 3, seed) if n_vars > 1 else [[(-1.0, ())]]
    families, names = families_of(lists), [f"v{i}" for i in range(n_vars)]
    cuts = random_cuts(n_vars, 12, rng)
    used = rng.permutation(12)[: rng.integers(1, 12)].tolist()
    steps = [to_units(float(x)) for x in rng.exponential(2.0, len(used))]
    node = [[None, None, None, None, used, steps]]
    with pytest.raises(Lie, match="cannot be repeated"):
        check_structure(names, families, cuts, node, best_of(lists) - 1)


@pytest.mark.parametrize("seed", range(40))
def test_no_multipliers_prove_what_is_false(seed):
    check_random_multipliers(seed)


@SLOW
def test_no_multipliers_prove_what_is_false_in_thousands():
    for seed in range(100, 4000):
        check_random_multipliers(seed)


def problem_of(card, *, kind="bdeu", prior="uniform", max_parents=3, **rules):
    variables = []
    for v, states in enumerate(card):
        known = {
            "name": f"v{v}",
            "states": list(range(states)),
            "max_parents": max_parents,
        }
        for key, arcs in rules.items():
            known[key] = [f"v{a}" for a, b in arcs if b == v]
        variables.append(known)
    score = {
        "kind": kind,
        "ess": 1.0,
        "prior": prior,
        "arc_penalty": 0.0,
        "support": 0.0,
    }
    return from_proof({"variables": variables, "score": score})


@pytest.mark.parametrize("seed", range(12))
def test_families_of_no_use_are_of_no_use(seed):
    rng = np.random.default_rng(seed)
    card = rng.integers(1, 4, 4).tolist()
    rows = linked_rows(card, 30, rng).tolist()
    rows[: seed * 2] = [rows[0]] * (seed * 2)
    rules = {"forbidden": [(0, 1)], "required": [(2, 3)]} if seed % 2 else {}
    kind = ["bdeu", "k2", "bic", "aic", "loglik"][seed % 5]
    problem = problem_of(card, kind=kind, **rules)
    table = Table(list(map(tuple, rows)), card, [1 + r % 3 for r in range(len(rows))])
    scores = Scores(problem.rule, table.n_rows)
    every = [
        {
            sum(1 << p for p in parents): family.score(family.base)
            for parents in problem.parent_sets(v)
            for family in [Family(table, scores, v, parents, problem.choices(v))]
        }
        for v in range(4)
    ]
    kept = families_of_table(problem, table)
    assert sum(map(len, kept)) <= sum(map(len, every))
    difference = Programme(kept).best - Programme(every).best
    assert 0 <= difference <= 1e-8 * 2**BITS


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("solver", ["subsets", "ilp"])
def test_proofs_of_candidates_are_accepted(seed, solver, tmp_path, monkeypatch):
    if seed % 2:  # so that it takes a tree
        monkeypatch.setattr(dual, "_MAX_HALVES", 0)
        monkeypatch.setattr(dual, "_ROOT_ROUNDS", 2)
    lists = random_lists(7, 20, 3, seed)
    sets = ParentSets.from_lists([f"v{i}" for i in range(7)], lists)
    write_jkl(sets, tmp_path / "scores.jkl.gz")
    proof = tmp_path / "proof.json.gz"
    found = solve(sets, solver=solver, certificate=proof, seed=1)
    assert found.certificate_file == str(proof)
    told = verify(found, tmp_path / "scores.jkl.gz")
    assert (told.lie, told.unchecked) == (None, ())
    assert "nothing scores above" in told.checked[-1]


def write_table(number, path):
    """A complete table of five variables; every other one with weights."""
    rng = np.random.default_rng(number)
    card = [2, 3, 2, 2, 2 + number % 2]
    rows = [[f"s{c}" for c in row] for row in linked_rows(card, 60, rng).tolist()]
    rows = [[*row, str(1 + i % 3)] for i, row in enumerate(rows)]
    lines = ["a,b,c,d,e,n", *(",".join(row) for row in rows)]
    path.write_text("\n".join(lines) + "\n")


OPTIONS = (
    (),
    ("--prior", "uniform", "--score", "bdeu", "--max-parents", "2"),
    ("--score", "bic", "--require", "a,b", "--forbid", "b,c"),
    ("--score", "k2", "--solver", "ilp"),
    ("--weights", "n", "--ess", "5"),
)


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    """Structures by number, each a folder with a table, a proof and a result."""
    made = {}

    def learn(number):
        if number not in made:
            folder = tmp_path_factory.mktemp("structure")
            write_table(number, folder / "table.csv")
            # Without the column of weights being modelled, unless it is asked for.
            own = OPTIONS[number % len(OPTIONS)]
            model = () if "--weights" in own else ("--model", "a,b,c,d,e")
            ok(
                *("structure", folder / "table.csv", "--seed", 1, *model, *own),
                *("--out", folder, "--certificate", folder / "proof.json"),
            )
            made[number] = folder
        return made[number]

    return learn


@pytest.mark.parametrize("number", range(len(OPTIONS)))
def test_proofs_of_tables_are_accepted(learned, number):
    folder = learned(number)
    told = verify(folder, folder / "table.csv", folder / "proof.json")
    assert (told.lie, told.unchecked) == (None, ())
    assert "nothing scores above" in told.checked[-1]


def told(folder):
    return verify(folder, folder / "table.csv", folder / "proof.json")


def check_mutations(learned, numbers, n_mutations, tmp_path):
    """Try all kinds of lies on one result after the other."""
    lies = ((mutate, n) for n in cycle(numbers) for mutate in STRUCTURE_MUTATIONS)
    kinds = mutations.check_mutations(lies, n_mutations, learned, told, tmp_path)
    assert kinds == set(STRUCTURE_MUTATIONS)


def test_lies_about_structures_are_named(learned, tmp_path):
    check_mutations(learned, range(2), 2 * len(STRUCTURE_MUTATIONS), tmp_path)


@SLOW
def test_a_thousand_lies_about_structures_are_named(learned, tmp_path):
    check_mutations(learned, range(10), 1000, tmp_path)


def test_a_proof_of_a_complete_table_is_none_of_one_with_holes(learned, tmp_path):
    files = Files(learned(0), learned(0) / "table.csv")
    files.rows[3][1] = ""
    files.write(tmp_path)
    assert re.search("no 'b', and the result fills none", told(tmp_path).lie)


def test_a_proof_of_candidates_is_for_their_file_alone(tmp_path):
    lists = random_lists(4, 6, 2, 3)
    sets = ParentSets.from_lists("abcd", lists)
    found = solve(sets, certificate=tmp_path / "p.json")
    other = ParentSets.from_lists("abcd", random_lists(4, 6, 2, 4))
    write_jkl(other, tmp_path / "other.jkl")
    lie = verify(found, tmp_path / "other.jkl").lie
    assert re.search("score is|no score of", lie)
    write_jkl(ParentSets.from_lists("abce", lists), tmp_path / "renamed.jkl")
    assert "'d', which is no variable" in verify(found, tmp_path / "renamed.jkl").lie


def test_better_candidates_that_the_proof_does_not_know_break_it(tmp_path):
    lists = random_lists(4, 6, 2, 3)
    sets = ParentSets.from_lists("abcd", lists)
    found = solve(sets, certificate=tmp_path / "p.json")
    taken = {p for _, p in lists[0]}
    more = next(p for p in [(1, 2, 3), (1, 2), (1, 3), (2, 3)] if p not in taken)
    better = ParentSets.from_lists("abcd", [[*lists[0], (90.0, more)], *lists[1:]])
    write_jkl(better, tmp_path / "better.jkl")
    lie = verify(found, tmp_path / "better.jkl").lie
    assert re.search("cannot be repeated|neither multipliers", lie)


def test_comments_in_a_file_of_candidates_say_nothing(tmp_path):
    sets = ParentSets.from_lists("ab", [[(-1.5, (1,)), (-2, ())], [(-1, ())]])
    found = solve(sets, certificate=tmp_path / "p.json")
    write_jkl(sets, tmp_path / "scores.jkl")
    text = "# two variables\n" + (tmp_path / "scores.jkl").read_text()
    (tmp_path / "scores.jkl.gz").write_bytes(gzip.compress(text.encode()))
    assert verify(found, tmp_path / "scores.jkl.gz").accepted


@pytest.mark.parametrize(
    "text", ["", "1\n", "1\na 1\n", "1\na 1\n-2 1 b", "1\na 1\nx 0", "1\na 1\n-1 1 a"]
)
def test_a_file_that_holds_no_candidates_is_told(text, tmp_path):
    sets = ParentSets.from_lists("a", [[(-1, ())]])
    (tmp_path / "scores.jkl").write_text(text)
    with pytest.raises(DataError, match=r"'scores.jkl' is no file of candidates"):
        verify(solve(sets), tmp_path / "scores.jkl")


def test_what_cannot_be_proven_says_why(tmp_path):
    table = {"a": ["x", "y"] * 20, "b": ["x", "y", "y", "y"] * 10}
    proof = tmp_path / "proof.json"
    for options, reason in (
        ({"solver": "greedy"}, "no bound was found"),
        ({"score": "bds"}, "the score bds cannot be checked yet"),
    ):
        with pytest.warns(ShortfallWarning, match=f"holds no proof: {reason}"):
            found = learn_structure(table, certificate=proof, **options)
        assert json.loads(proof.read_text())["reason"].startswith(reason)
        assert found.certificate_file == str(proof)


def test_a_bound_above_the_score_is_proven_too(tmp_path):
    lists = random_lists(8, 40, 3, 5)
    sets = ParentSets.from_lists([f"v{i}" for i in range(8)], lists)
    write_jkl(sets, tmp_path / "scores.jkl")
    found = solve(sets, solver="ilp", gap=2.0, certificate=tmp_path / "p.json")
    shown = verify(found, tmp_path / "scores.jkl")
    assert (shown.lie, shown.unchecked) == (None, ())
    assert math.isfinite(found.bound)


def test_constraints_are_part_of_the_proof(tmp_path):
    rng = np.random.default_rng(5)
    rows = linked_rows([2, 2, 2, 3], 50, rng)
    table = {name: rows[:, v].tolist() for v, name in enumerate("abcd")}
    rules = Constraints(required=[("a", "d")], forbidden=[("a", "b"), ("c", "b")])
    found = learn_structure(
        table, constraints=rules, certificate=tmp_path / "p.json", seed=1
    )
    shown = verify(found, table)
    assert (shown.lie, shown.unchecked) == (None, ())


def test_who_asks_is_told_how_far_the_check_is(learned):
    folder, told_of = learned(0), []
    verify(folder, folder / "table.csv", tell=lambda *news: told_of.append(news))
    assert told_of == [*((v, 6) for v in range(6)), (1, 1)]


def test_a_proof_is_found_beside_the_folder_of_the_result_and_missed_aloud(tmp_path):
    write_table(1, tmp_path / "table.csv")
    with contextlib.chdir(tmp_path):
        ok("structure", "table.csv", "--out", "here", "--certificate", "p.json")
    shown = verify(tmp_path / "here", tmp_path / "table.csv")
    assert (shown.lie, shown.unchecked) == (None, ())
    (tmp_path / "p.json").rename(tmp_path / "q.json")
    with pytest.raises(DataError, match="Name a proof"):
        verify(tmp_path / "here", tmp_path / "table.csv")
    with contextlib.chdir(tmp_path):
        done = run(
            *("learn", "table.csv", "--method", "exact", "--out", "there"),
            *("--certificate", "p.json"),
        )
        assert done.exit_code == 0
    (tmp_path / "p.json").unlink()
    (told,) = verify(tmp_path / "there", tmp_path / "table.csv").unchecked
    assert told.endswith("the proof that it names, 'p.json', is not there")


def test_a_file_that_holds_no_proof_leaves_the_bound_unchecked(tmp_path):
    write_table(1, tmp_path / "table.csv")
    proof = tmp_path / "p.json"
    with pytest.warns(ShortfallWarning):
        found = learn_structure(tmp_path / "table.csv", score="bds", certificate=proof)
    score, bound = verify(found, tmp_path / "table.csv").unchecked
    assert score == "the score: neither proof nor options define it"
    assert bound == (
        f"the bound {found.bound}: there is no proof, because the score bds cannot be "
        "checked yet"
    )


def test_ctrl_c_in_search_of_a_proof_stops_who_called(tmp_path, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(dual, "find_multipliers", interrupted)
    table = {"a": ["x", "y"] * 20, "b": ["x", "y", "y", "y"] * 10}
    for call in (learn_structure, learn):
        proof = tmp_path / f"{call.__name__}.json"
        with pytest.warns(ShortfallWarning, match="search for it was interrupted"):
            found = call(table, certificate=proof)
        assert (found.status, found.stopped) == ("optimal", Stopped.INTERRUPT)
        assert json.loads(proof.read_text())["kind"] == "none"
