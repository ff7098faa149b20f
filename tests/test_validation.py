import math

import numpy as np
import pytest
from support.timing import ctrl_c_after

import bayesmend as bm
from bayesmend.errors import ParameterError

ASIA = bm.load_network("asia")
DATA = ASIA.sample(150, seed=1)


def truth(data, *, seed):
    return ASIA


def coin(data, *, seed):
    """The network that knows nothing."""
    tables = tuple([[0.5, 0.5]] for _ in ASIA.names)
    return bm.Network(bm.Dag.from_arcs(ASIA.names), ASIA.states, tables)


def test_scores_are_those_counted_cell_by_cell():
    found = bm.cross_validate(
        DATA, methods={"truth": truth, "coin": coin}, n_repeats=2, seed=5
    )
    losses, hits, bins, n = [], [], {}, {}
    for generator in np.random.default_rng(5).spawn(2):
        hidden = bm.hide_mcar(DATA, 0.1, seed=generator)
        for cell in zip(hidden.rows, hidden.variables, hidden.true_codes, strict=True):
            row, v, code = map(int, cell)
            given = {
                name: ASIA.states[k][hidden.data.codes[row, k]]
                for k, name in enumerate(ASIA.names)
                if hidden.data.codes[row, k] != 255
            }
            answer = bm.query(ASIA, ASIA.names[v], given=given)
            p = list(answer.distributions[ASIA.names[v]].values())
            losses.append(-math.log(p[code]))
            hits.append(p.index(max(p)) == code)
            bins.setdefault(min(int(max(p) * 10), 9), []).append((max(p), hits[-1]))
            n[ASIA.names[v]] = n.get(ASIA.names[v], 0) + 1
    score = found["truth"]
    assert score.log_loss == pytest.approx(np.mean(losses))
    assert score.log_loss_error == pytest.approx(
        np.std(losses, ddof=1) / len(losses) ** 0.5
    )
    assert score.accuracy == pytest.approx(np.mean(hits))
    off = sum(
        abs(np.mean([p for p, _ in cells]) - np.mean([hit for _, hit in cells]))
        * len(cells)
        for cells in bins.values()
    )
    assert score.calibration_error == pytest.approx(off / len(losses))
    assert {name: v.n_cells for name, v in score.by_variable.items()} == n
    assert [share.n_cells for share in score.curve] == [
        len(cells) for _, cells in sorted(bins.items())
    ]
    assert found["coin"].log_loss == pytest.approx(math.log(2))
    assert found["coin"].behind == pytest.approx(math.log(2) - score.log_loss)
    assert score.behind == 0
    assert found.best == "truth"
    assert found.n_hidden == len(losses)


def test_methods_of_learn_are_compared_and_shown():
    found = bm.cross_validate(
        DATA, methods=["mode", "em", "local"], n_repeats=1, seed=1, n_threads=1
    )
    assert found.methods[-1].method == "mode"
    lines = repr(found).splitlines()
    assert lines[0].endswith("hidden cells, 1 repeat")
    assert lines[2].split() == [
        *("method", "accuracy", "log-loss", "behind", "calibration", "seconds")
    ]
    plain = found.to_dict()
    assert plain["methods"][0]["method"] == found.best
    assert set(plain["methods"][0]["by_variable"]) <= set(DATA.names)
    with pytest.raises(KeyError):
        found["exact"]
    assert repr(found["em"]).startswith("MethodScore(em, accuracy=")


def test_a_method_has_the_same_score_whatever_stands_beside_it():
    options = {"n_repeats": 1, "seed": 2}
    alone = bm.cross_validate(DATA, methods=["em"], **options)
    beside = bm.cross_validate(DATA, methods=["em", "mode"], **options)
    assert alone["em"].log_loss == beside["em"].log_loss


def test_an_ensemble_is_judged_by_its_mean():
    def few(data, *, seed):
        return bm.learn_ensemble(data, n_networks=2, classes=(), ess=1.0, seed=seed)

    found = bm.cross_validate(DATA, methods={"few": few}, n_repeats=1, seed=1)
    generator = np.random.default_rng(1).spawn(1)[0]
    hidden = bm.hide_mcar(DATA, 0.1, seed=generator)
    result = few(hidden.data, seed=generator.spawn(1)[0])
    right = np.count_nonzero(
        result.completed.codes[hidden.rows, hidden.variables] == hidden.true_codes
    )
    assert found["few"].accuracy == pytest.approx(right / hidden.n_hidden)


@pytest.mark.parametrize("mechanism", ["mar", "mnar"])
def test_cells_may_be_hidden_in_other_ways(mechanism):
    options = {"methods": ["mode"], "n_repeats": 1, "seed": 1}
    found = bm.cross_validate(DATA, mechanism=mechanism, **options)
    assert found.n_hidden > 0

    def some(data, *, seed):
        return bm.hiding.hide_value_per_variable(data, 2, state=1, seed=seed)

    assert bm.cross_validate(DATA, mechanism=some, **options).n_hidden <= 16


def test_ctrl_c_leaves_the_repeats_that_are_done():
    with ctrl_c_after(0.3):
        found = bm.cross_validate(
            DATA, methods={"coin": coin}, n_repeats=1_000_000, seed=1
        )
    assert found.stopped == "interrupt"
    assert 0 < found.n_repeats < 1_000_000
    assert "stopped at interrupt" in repr(found)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"methods": ["best"]}, "methods must be"),
        ({"methods": []}, "no method to compare"),
        ({"methods": "em"}, "methods must be a list of names"),
        ({"methods": {"em": 1}}, r"methods\['em'\] must be callable"),
        ({"mechanism": "odd"}, "mechanism must be"),
        ({"rate": -1}, "rate must be"),
        ({"n_repeats": 0}, "n_repeats must be"),
        ({"rate": 1e-9}, "no cell was hidden"),
    ],
)
def test_what_cannot_be_compared_is_told(options, message):
    with pytest.raises(ParameterError, match=message):
        bm.cross_validate(DATA, **{"seed": 1} | options)
