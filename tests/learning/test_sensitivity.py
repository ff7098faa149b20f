"""Sensitivity: tilted shares against a loop, bounds, messages."""

import numpy as np
import pytest
from support import oracle

import bayesmend as bm
from bayesmend.data.states import MISSING
from bayesmend.errors import DataError, ParameterError
from bayesmend.learning import sensitivity

pytestmark = pytest.mark.filterwarnings("ignore::bayesmend.errors.SupportWarning")


@pytest.fixture(scope="module")
def data():
    rows = bm.load_network("asia").sample(400, seed=1)
    return bm.hide_mnar(rows, 0.25, strength=2, seed=1).data


@pytest.fixture(scope="module", params=["ignore", "self"])
def result(request, data):
    options = {"starts": ("mode",), "restarts": 0, "seed": 1}
    return bm.learn_em(data, mechanism=request.param, **options)


def test_tilted_shares_are_those_of_every_cell(result, data):
    found = sensitivity(result, "smoke", tilt=(-1, 1), n_tilts=3)
    network, v = result.network.with_indicators(), data.index("smoke")
    table = {name: list(column) for name, column in data.to_table().items()}
    for name in network.names[data.n_vars :]:
        missing = data.missing_mask[:, data.index(name.removeprefix("missing_"))]
        table[name] = np.where(missing, "missing", "observed").tolist()
    rows, posterior = bm.marginals(network, table).of("smoke")
    assert len(rows) == found.n_missing
    counts = np.bincount(data.codes[data.codes[:, v] != MISSING, v], minlength=2)
    for k in range(2):
        for t, tilt in enumerate(found.tilts):
            expected = oracle.tilted_share(
                posterior.tolist(), counts[k], data.n_rows, k, tilt
            )
            assert found.shares[k, t] == pytest.approx(expected)
    assert (found.changed[:, 1] == 0).all()


def test_bounds_hold_for_every_tilt_and_are_reached(result, data):
    found = sensitivity(result, "bronc", tilt=(-60, 60), n_tilts=3)
    assert (found.lower[:, None] <= found.shares + 1e-12).all()
    assert (found.shares <= found.upper[:, None] + 1e-12).all()
    assert found.shares[:, 0] == pytest.approx(found.lower, abs=1e-9)
    assert found.shares[:, 2] == pytest.approx(found.upper, abs=1e-9)
    assert found.upper - found.lower == pytest.approx(found.n_missing / data.n_rows)


def test_a_table_and_plain_types_show_it(result):
    found = sensitivity(result, "smoke")
    head, *rows = str(found).splitlines()
    assert head.split() == [
        "state",
        "observed",
        "-2",
        "-1",
        "+0",
        "+1",
        "+2",
        "bounds",
        "refilled",
    ]
    assert [row.split()[0] for row in rows] == ["yes", "no"]
    assert found.to_dict()["tilts"] == [-2, -1, 0, 1, 2]


def test_what_cannot_be_tilted_is_told(result):
    with pytest.raises(DataError, match="no variable named 'smoek'"):
        sensitivity(result, "smoek")
    with pytest.raises(ParameterError, match="tilt must be two numbers, the smaller"):
        sensitivity(result, "smoke", tilt=(2, -2))
    with pytest.raises(ParameterError, match="n_tilts must be an integer"):
        sensitivity(result, "smoke", n_tilts=1)
