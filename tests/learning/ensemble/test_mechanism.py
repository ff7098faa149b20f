"""Ensembles whose members know why cells are missing."""

import numpy as np
import pytest
from support.clirunner import ok, rows_of
from support.timing import ctrl_c_after

import bayesmend as bm
from bayesmend.data.states import MISSING
from bayesmend.errors import DataError, ParameterError
from bayesmend.learning import learn_ensemble
from bayesmend.network.mechanism import Mechanism
from bayesmend.network.mixture import Mixture

pytestmark = pytest.mark.filterwarnings("ignore::bayesmend.errors.SupportWarning")

# Four copies of a coin that nobody sees without error: good neighbours.
COPIES = bm.Network(
    bm.Dag.from_arcs("abcd", [("a", "b"), ("a", "c"), ("a", "d")]),
    (("no", "yes"),) * 4,
    ([[0.5, 0.5]], *([[[0.9, 0.1], [0.1, 0.9]]] * 3)),
)
ROWS = COPIES.sample(800, seed=3)
FOUND = {}


def hidden(low=0.1, high=0.6):
    """Hide cells of `a`, one state more than the other, and some of `b`."""
    codes, rng = ROWS.codes.copy(order="F"), np.random.default_rng(1)
    chance = np.where(codes[:, 0] == 1, high, low)
    codes[rng.random(ROWS.n_rows) < chance, 0] = MISSING
    codes[rng.random(ROWS.n_rows) < 0.1, 1] = MISSING
    return ROWS.with_codes(codes)


def learn(data, **options):
    options = {"n_networks": 6, "ess": 1.0, "seed": 1, "mechanism": "auto"} | options
    return learn_ensemble(data, **options)


def found():
    """Return the ensemble of a table whose cells are hidden by what they hold."""
    if not FOUND:
        FOUND[0] = learn(hidden(), classes=(2,), class_starts=1)
    return FOUND[0]


def test_every_member_knows_why_cells_are_missing():
    result = found()
    why = result.mechanism.of("a")
    assert (why.parents, why.label) == (("a",), "depends on hidden values")
    models = [n for n in result.members if n.n_vars > 4]
    assert len(models) == 1
    for member in (*result.members, result.network):
        own = member.mechanism
        assert dict(zip(own.variables, own.parents, strict=True))["a"] == ("a",)
        low, high = own.cpts[own.variables.index("a")][:, 1]
        assert low < 0.25 < 0.45 < high
    tables = {member.mechanism.cpts[0].tobytes() for member in result.members}
    assert len(tables) > 3  # each learned it anew, some from equal completions


def test_cells_hidden_by_what_they_hold_are_filled_better():
    data, blind = hidden(), learn(hidden(), mechanism="ignore", classes=())
    holes = data.codes == MISSING
    hits = [
        (result.completed.codes == ROWS.codes)[holes].mean()
        for result in (blind, learn(data))
    ]
    assert blind.mechanism is None
    assert hits[1] > hits[0] + 0.02


def test_the_answer_is_the_mean_of_the_members_given_what_is_missing():
    result, data = found(), hidden()
    again = bm.impute(result, data)
    assert again.completed == result.completed
    assert np.allclose(again.cells.probabilities, result.cells.probabilities)
    rows = np.flatnonzero(data.codes[:, 0] == MISSING)
    mean = np.zeros((len(rows), 2))
    for weight, member in zip(result.mixture.weights, result.members, strict=True):
        mean += weight * posterior(member, data.codes[rows])
    cells = result.cells
    of_a = cells.variables == 0
    assert cells.rows[of_a].tolist() == rows.tolist()
    assert cells.probabilities[of_a] == pytest.approx(mean.max(axis=1))


def posterior(member, codes):
    """Work out P(a | row, it is missing and what else is), summing over all states."""
    n = member.n_vars
    states = np.indices((2,) * n).reshape(n, -1).T
    joint = np.ones(len(states))
    for child, (parents, cpt) in enumerate(
        zip(member.dag.parents, member.cpts, strict=True)
    ):
        config = sum(states[:, p] * 2**k for k, p in enumerate(parents))
        joint *= cpt[config, states[:, child]]
    why, names = member.mechanism, list(member.names)
    result = np.empty((len(codes), 2))
    for k, row in enumerate(codes):
        weight = joint.copy()
        for name, parents, cpt in zip(
            why.variables, why.parents, why.cpts, strict=True
        ):
            config = sum(
                states[:, names.index(p)] * 2**i for i, p in enumerate(parents)
            )
            weight *= cpt[config, int(row[names.index(name)] == MISSING)]
        for v in range(4):
            if row[v] != MISSING:
                weight *= states[:, v] == row[v]
        result[k] = [weight[states[:, 0] == state].sum() for state in (0, 1)]
    return result / result.sum(axis=1, keepdims=True)


def test_where_nothing_is_found_the_answer_is_that_without():
    data = bm.hide_mcar(ROWS, 0.1, seed=1).data
    blind, knowing = (
        learn(data, mechanism=why, n_networks=3, classes=(2,), class_starts=1)
        for why in ("ignore", "auto")
    )
    assert knowing.mechanism.is_innocent
    assert knowing.mixture == blind.mixture
    assert knowing.network == blind.network
    assert (knowing.cells.probabilities == blind.cells.probabilities).all()


def test_latent_classes_are_left_out_unless_they_are_asked_for():
    result = learn(hidden(), ess=None, n_networks=2)
    assert len(result.members) == 2
    assert result.detail["weights"] == {"networks": 1.0}


def test_threads_do_not_matter():
    data = hidden()
    one, two = (
        learn(data, n_networks=4, classes=(2,), class_starts=2, n_threads=n)
        for n in (1, 3)
    )
    assert one.mixture == two.mixture
    assert one.network == two.network


def test_a_network_alone_is_the_ensemble_of_one():
    data = hidden()
    result = learn(data, n_networks=1, classes=())
    alone = bm.impute(result.members[0], data, method="marginal")
    assert result.members == (result.network,)
    assert alone.completed == result.completed


def test_an_ensemble_can_ask_and_say_that_a_cell_is_missing():
    result = found()
    plain = bm.query(result, "a").distributions["a"]["yes"]
    told = bm.query(result, "a", given={"missing_a": "missing"})
    assert told.distributions["a"]["yes"] > plain + 0.1
    asked = bm.query(result, "missing_a", given={"a": "yes"}).distributions
    assert asked["missing_a"]["missing"] == pytest.approx(0.6, abs=0.1)


def test_what_it_knows_is_kept_in_a_file(tmp_path):
    result, data = found(), hidden()
    path = tmp_path / "ensemble.json"
    bm.write_ensemble(result, path)
    again = bm.read_ensemble(path)
    assert again == result.mixture
    assert bm.impute(again, data).completed == result.completed
    ignored = bm.impute(again, data, mechanism="ignore")
    assert ignored.completed != result.completed


def test_draws_heed_it():
    data = hidden()
    at = data.codes[:, 0] == MISSING
    shares = []
    for use in ("ignore", "use"):
        options = {"method": "draw", "n_draws": 10, "seed": 1, "mechanism": use}
        tables = bm.impute(found(), data, **options).tables
        shares.append(np.mean([table.codes[at, 0] for table in tables]))
    assert shares[1] > shares[0] + 0.02


def test_members_must_all_know_or_none():
    why = Mechanism(("a",), (("a",),), ([[0.9, 0.1], [0.5, 0.5]],))
    knowing = bm.Network(COPIES.dag, COPIES.states, COPIES.cpts, mechanism=why)
    with pytest.raises(DataError, match="must all know why cells are missing"):
        Mixture((COPIES, knowing))


def test_what_is_no_mechanism_is_an_error():
    with pytest.raises(ParameterError, match="mechanism must be 'ignore', 'self'"):
        learn(hidden(), mechanism="slef")
    with pytest.raises(ParameterError, match="max_mechanism_parents must be"):
        learn(hidden(), max_mechanism_parents=0)


def test_ctrl_c_while_it_is_learned_returns_the_network_at_hand():
    data = bm.hide_mnar(bm.load_network("asia").sample(3000, seed=1), 0.3, seed=1).data
    with ctrl_c_after(0.05):
        result = learn(data, n_networks=10**6, tol=0.0)
    assert result.stopped == "interrupt"
    assert result.completed.is_complete


def test_an_ensemble_goes_on_under_its_mechanism():
    data = hidden()
    first = learn(data, n_networks=2, classes=(2,), class_starts=1)
    more = learn_ensemble(data, n_networks=4, resume=first, seed=1)
    assert more.mechanism is first.mechanism
    assert more.mixture.structures[:2] == first.mixture.structures
    again = bm.impute(more, data)
    assert again.completed == more.completed
    assert np.allclose(again.cells.probabilities, more.cells.probabilities)


def test_auto_fills_by_the_mean_under_a_mechanism():
    result = bm.learn(hidden(), mechanism="self", seed=1)
    assert result.method == "ensemble"
    assert result.network.mechanism is not None
    assert result.mixture.mechanism is not None
    assert result.mechanism.of("a").label == "depends on hidden values"


def test_the_command_line_learns_it(tmp_path):
    path, out = tmp_path / "table.csv", tmp_path / "out"
    hidden().write_csv(path)
    options = ("--method", "ensemble", "--networks", 2, "--mechanism", "self")
    text = ok("learn", path, "--out", out, *options, "--ess", 1, "--seed", 1)
    assert "depends on hidden values" in text
    assert "depends on hidden values" in (out / "report.html").read_text()
    filled = tmp_path / "filled.csv"
    bm.impute(bm.read_ensemble(out / "ensemble.json"), path).write_csv(filled)
    assert rows_of(filled.read_text()) == rows_of((out / "completed.csv").read_text())
