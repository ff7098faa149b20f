"""True results are accepted, and every lie is found and named."""

from itertools import cycle

import numpy as np
import pytest
from support import mutations
from support.clirunner import run
from support.mutations import MUTATIONS
from support.strategies import linked_rows

import bayesmend as bm
from bayesmend.errors import ParameterError
from bayesmend.verification import verify

SLOW = pytest.mark.slow


def write_table(number, path):
    """A table of four variables with holes, whose proof has some nodes."""
    rng = np.random.default_rng(number)
    card = [2, 2, 3, 2] if number % 2 else [2, 2, 2, 2]
    rows = [[f"s{c}" for c in row] for row in linked_rows(card, 40, rng).tolist()]
    for row, v in zip(rng.permutation(40)[:9], rng.integers(0, 4, 9), strict=True):
        rows[row][v] = ""
    lines = ["a,b,c,d", *(",".join(row) for row in rows)]
    path.write_text("\n".join(lines) + "\n")


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    """Results by number, each a folder with a table, a proof and a result."""
    made = {}

    def learn(number):
        if number not in made:
            folder = tmp_path_factory.mktemp("learned")
            write_table(number, folder / "table.csv")
            more = ["--prior", "uniform", "--support", "0"] if number % 3 else []
            done = run(
                *("learn", folder / "table.csv", "--method", "exact", "--seed", 1),
                *("--model", "a,b,c,d", "--out", folder),
                *("--certificate", folder / "proof.json", *more),
            )
            assert done.exit_code == 0, done.stderr
            made[number] = folder
        return made[number]

    return learn


def told(folder):
    return verify(folder, folder / "table.csv", folder / "proof.json")


def check_mutations(learned, numbers, n_mutations, tmp_path):
    """Try each kind of lie in turn, each on the next result."""
    lies = zip(cycle(MUTATIONS), cycle(numbers), strict=True)
    kinds = mutations.check_mutations(lies, n_mutations, learned, told, tmp_path)
    assert kinds == set(MUTATIONS)


def test_true_results_are_accepted(learned):
    for number in range(4):
        found = told(learned(number))
        assert (found.lie, found.unchecked) == (None, ()), number


@pytest.mark.parametrize("command", [("learn", "--method", "exact"), ("structure",)])
def test_a_proof_may_be_written_to_the_folder_of_its_result(command, tmp_path):
    table, out = tmp_path / "table.csv", tmp_path / "new"
    bm.load_network("asia").sample(50, seed=1).write_csv(table)
    proof = out / "proof.json.gz"
    call = (*command, table, "--out", out, "--certificate", proof)
    done = run(*call)
    assert done.exit_code == 0, done.stderr
    assert done.stdout.splitlines()[-1] == str(proof)
    assert run("verify", out, table).exit_code == 0
    for path in out.iterdir():
        if path != proof:
            path.unlink()
    assert f"'{proof}' exists. Pass --force to replace it." in run(*call).stderr
    assert run(*call, "--force").exit_code == 0


def test_the_folder_of_a_proof_is_asked_for_before_any_work(tmp_path):
    table, none = tmp_path / "table.csv", tmp_path / "none"
    bm.load_network("asia").sample(50, seed=1).write_csv(table)
    with pytest.raises(ParameterError, match=f"there is no folder '{none}'"):
        bm.learn_structure(table, certificate=none / "proof.json")
    done = run("structure", table, "--out", none, "--certificate", none / "proof.txt")
    assert done.exit_code == 1
    assert not none.exists()


def test_lies_are_named(learned, tmp_path):
    check_mutations(learned, range(3), 150, tmp_path)


@SLOW
def test_a_thousand_lies_are_named(learned, tmp_path):
    check_mutations(learned, range(10), 1000, tmp_path)


@pytest.mark.slow
def test_a_proof_of_many_branches_is_accepted(tmp_path):
    table = bm.load_network("asia").sample(300, seed=1)
    bm.hide_mcar(table, 0.03, seed=1).data.write_csv(tmp_path / "table.csv")
    done = run(
        *("learn", tmp_path / "table.csv", "--method", "exact", "--seed", 1),
        *("--prior", "uniform", "--support", "0", "--out", tmp_path),
        *("--certificate", tmp_path / "proof.json"),
    )
    assert done.exit_code == 0, done.stderr
    found = told(tmp_path)
    assert found.lie is None
