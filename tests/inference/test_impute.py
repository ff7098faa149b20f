"""Imputation: what is filled, what is kept, how sure; tables of every kind."""

import csv
import functools
import gzip
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from support import oracle
from support.examples import examples
from support.networks import empty_rows, plain, possible, table
from support.strategies import MISSING, awkward_tables, networks_with_holes

import bayesmend as bm
from bayesmend.errors import DataError, InferenceError, ParameterError
from bayesmend.inference.align import read_for

METHODS = ["mpe", "marginal", "draw"]
# Many of these rows are empty, to be filled from the network alone.
impute = functools.partial(bm.impute, fill_empty_rows=True)

WET = bm.Network(
    bm.Dag.from_arcs(["rain", "wet"], [("rain", "wet")]),
    (("no", "yes"), ("0", "1", "2")),
    ([[0.7, 0.3]], [[0.8, 0.15, 0.05], [0.05, 0.15, 0.8]]),
)


# --- what is filled -------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
@given(case=networks_with_holes())
@examples(30)
def test_observed_cells_stay_and_holes_are_filled(method, case):
    network, rows = case
    data = table(network, possible(network, rows))
    found = impute(network, data, method=method, seed=1)
    seen = data.codes != MISSING
    assert np.array_equal(found.completed.codes[seen], data.codes[seen])
    assert found.completed.is_complete
    assert len(found.cells) == data.n_missing


@given(networks_with_holes())
@examples(30)
def test_cells_have_their_posterior_and_the_best_other_state(case):
    network, rows = case
    rows = possible(network, rows)
    found = impute(network, table(network, rows))
    for cell in found.cells:
        v = network.names.index(cell.variable)
        p = oracle.hole_posterior(*plain(network), rows[cell.row], v)
        code = network.states[v].index(cell.state)
        assert found.completed.codes[cell.row, v] == code
        assert cell.probability == pytest.approx(p[code], abs=1e-9)
        other = network.states[v].index(cell.runner_up)
        assert other != code
        assert p[other] == pytest.approx(max(p[:code] + p[code + 1 :]), abs=1e-9)


@given(networks_with_holes())
@examples(30)
def test_marginal_takes_the_most_probable_state_of_each_cell(case):
    network, rows = case
    rows = possible(network, rows)
    for cell in impute(network, table(network, rows), method="marginal").cells:
        v = network.names.index(cell.variable)
        p = oracle.hole_posterior(*plain(network), rows[cell.row], v)
        assert cell.probability == pytest.approx(max(p), abs=1e-9)


def test_joint_and_single_best_states_may_differ():
    # Two states of b share what one state of a has alone.
    network = bm.Network(
        bm.Dag.from_arcs("ab", [("a", "b")]),
        (("x", "y"), ("s", "t", "u")),
        ([[0.4, 0.6]], [[1, 0, 0], [0, 0.5, 0.5]]),
    )
    hole = {"a": [None], "b": [None]}
    assert impute(network, hole).to_table() == {"a": ["x"], "b": ["s"]}
    single = impute(network, hole, method="marginal").to_table()
    assert single == {"a": ["y"], "b": ["s"]}


def test_draws_are_tables_of_their_own():
    found = impute(WET, empty_rows(WET, 50), method="draw", n_draws=3, seed=1)
    assert (found.n_draws, len(found.cells)) == (3, 300)
    assert len({t.codes.tobytes() for t in found.tables}) == 3
    assert [found.to_table(k)["rain"] for k in range(3)] == [
        [("no", "yes")[code] for code in t.codes[:, 0]] for t in found.tables
    ]
    for cell in found.cells:
        drawn = found.tables[cell.table - 1]
        assert drawn.codes[cell.row, WET.names.index(cell.variable)] == (
            WET.states[WET.names.index(cell.variable)].index(cell.state)
        )
    again = impute(WET, empty_rows(WET, 50), method="draw", n_draws=3, seed=1)
    assert again.tables == found.tables


def test_more_draws_than_fit_into_memory_are_refused_before_any_work():
    message = r"n_draws=1000000000000 completed tables would need .* TB, which is more "
    for n_rows in (1, 1000):
        rows = empty_rows(WET, n_rows)
        with pytest.raises(InferenceError, match=message):
            impute(WET, rows, method="draw", n_draws=10**12)
        with pytest.raises(InferenceError, match=message):
            bm.draw_completions(WET, rows, n_draws=10**12)
    # Two cells a row, a byte each as drawn and as coded, and 34 in the list.
    n_bytes = 5 * 10 * 2 * (2 + 34)
    options = {"method": "draw", "n_draws": 5, "seed": 1}
    rows = empty_rows(WET, 10)
    found = impute(WET, rows, max_memory=n_bytes, **options)
    arrays = ("rows", "variables", "codes", "probabilities", "runners_up", "tables")
    listed = sum(getattr(found.cells, name).nbytes for name in arrays)
    assert listed + 2 * sum(t.codes.nbytes for t in found.tables) == n_bytes
    with pytest.raises(InferenceError, match=r"more than max_memory=3599. Ask for few"):
        impute(WET, rows, max_memory=n_bytes - 1, **options)
    # One table is never refused for its size: the one given was as large.
    assert impute(WET, rows, method="draw", max_memory=500).completed.is_complete


def test_cells_come_by_table_row_and_column():
    rows = {"wet": [None, None], "rain": [None, None]}
    found = impute(WET, rows, method="draw", n_draws=2, seed=1)
    places = [(cell.table, cell.row, cell.variable) for cell in found.cells]
    assert places == [(t, r, v) for t in (1, 2) for r in (0, 1) for v in rows]


def test_cells_are_a_table_too():
    found = impute(WET, {"rain": ["yes", None], "wet": [None, "2"]})
    columns = found.cells.to_dict()
    assert columns["row"] == [0, 1]
    assert columns["state"] == ["2", "yes"]
    assert columns["runner_up"] == ["1", "no"]
    head, first, _, end = found.cells.to_csv().split("\n")
    assert head == "row,variable,state,probability,runner_up,table"
    assert first == f"0,wet,2,{columns['probability'][0]},1,1"
    assert end == ""
    assert repr(found.cells) == "CompletedCells(2 cells)"
    assert repr(found) == "Imputation(mpe, 2 cells)"


def test_a_single_state_has_no_runner_up():
    network = bm.Network(bm.Dag.from_arcs("a"), (("x",),), ([[1.0]],))
    (cell,) = impute(network, {"a": [None]}).cells
    assert (cell.state, cell.probability, cell.runner_up) == ("x", 1.0, None)


@pytest.mark.parametrize("n_threads", [4, 7])
def test_the_answer_does_not_depend_on_threads(n_threads):
    network = bm.load_network("lucas")
    data = bm.hide_mcar(network.sample(300, seed=1), 0.3, seed=1).data
    for options in (
        {},
        {"method": "draw", "n_draws": 2, "seed": 1},
        {"method": "marginal", "inference": "weighting", "n_samples": 500, "seed": 1},
    ):
        one = impute(network, data, n_threads=1, **options)
        many = impute(network, data, n_threads=n_threads, **options)
        assert one.tables == many.tables
        assert np.array_equal(one.cells.probabilities, many.cells.probabilities)


def test_the_training_table_comes_back_with_its_weights():
    data = bm.IncompleteData.from_table(
        {"rain": ["no", None], "n": [3, 4], "wet": ["0", "2"]},
        weights="n",
        columns={"rain": "model"},
    )
    found = impute(WET, data)
    assert found.completed.weights.tolist() == [3, 4]
    assert found.to_table() == {"rain": ["no", "yes"], "n": [3, 4], "wet": ["0", "2"]}


# --- tables of every kind -------------------------------------------------------------

COLUMNS = {
    "id": [f"r{k}" for k in range(400)],
    "wet": ["2", None, "0", None] * 100,
    "when": [1.5, 2.5, None, 3.5] * 100,
    "rain": [None, "no", None, "yes"] * 100,
}
FILLED = {"wet": ["2", "0", "0", "2"] * 100, "rain": ["yes", "no", "no", "yes"] * 100}


def check_filled(columns):
    assert list(columns) == list(COLUMNS)
    for name, values in FILLED.items():
        assert list(columns[name]) == values


def test_a_mapping_keeps_its_other_columns():
    found = impute(WET, COLUMNS)
    assert (found.extra, found.absent) == (("id", "when"), ())
    assert found.completed.names == ("wet", "rain")
    result = found.to_table()
    check_filled(result)
    assert result["id"] == COLUMNS["id"]
    assert result["when"] == COLUMNS["when"]


def test_a_pandas_frame_keeps_its_other_columns_types_and_index():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(COLUMNS, index=range(1000, 1400))
    frame["wet"] = frame["wet"].astype("category")
    before = frame.copy()
    result = impute(WET, frame).to_table()
    check_filled(result)
    pd.testing.assert_frame_equal(frame, before)
    pd.testing.assert_frame_equal(result[["id", "when"]], frame[["id", "when"]])
    assert result["wet"].dtype == frame["wet"].dtype


def test_a_polars_frame_keeps_its_other_columns():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(COLUMNS)
    result = impute(WET, frame).to_table()
    check_filled(result.to_dict())
    assert result[["id", "when"]].equals(frame[["id", "when"]])


def test_an_arrow_table_keeps_its_other_columns():
    pa = pytest.importorskip("pyarrow")
    arrow = pa.table(COLUMNS)
    result = impute(WET, arrow).to_table()
    check_filled(result.to_pydict())
    assert result.column("when").equals(arrow.column("when"))


def test_an_array_names_its_columns_by_position():
    network = bm.Network(
        bm.Dag.from_arcs(["x0", "x2"]), ((0, 1), (0, 1)), ([[0.9, 0.1]],) * 2
    )
    array = np.array([[1.0, 7.5, np.nan], [np.nan, 8.5, 1.0]])
    result = impute(network, array).to_table()
    assert result.tolist() == [[1, 7.5, 0], [0, 8.5, 1]]
    plain_array = impute(network, np.ma.masked_invalid(array)).to_table()
    assert plain_array.tolist() == [[1, 7.5, 0], [0, 8.5, 1]]


def one_variable(*states):
    """A network whose last state is the most probable one."""
    chances = [0.2 / (len(states) - 1)] * (len(states) - 1) + [0.8]
    return bm.Network(bm.Dag.from_arcs(["x"]), (states,), ([chances],))


def filled_frame(kind, states, values, dtype, extra):
    """Impute a frame of one column of a type, and of another one perhaps."""
    if kind == "pandas":
        pd = pytest.importorskip("pandas")
        frame = pd.DataFrame({"x": pd.Series(values, dtype=dtype)})
        frame = frame.assign(id="a") if extra else frame
    elif kind == "polars":
        pl = pytest.importorskip("polars")
        frame = pl.DataFrame({"x": pl.Series(values, dtype=getattr(pl, dtype))})
        frame = frame.with_columns(id=pl.lit("a")) if extra else frame
    else:
        pa = pytest.importorskip("pyarrow")
        if dtype == "dictionary":
            dtype = pa.dictionary(pa.int8(), pa.int8())
        columns = {"x": pa.array(values, type=dtype)}
        frame = pa.table(columns | ({"id": ["a"] * len(values)} if extra else {}))
    found = impute(one_variable(*states), frame)
    column = found.to_table()["x"]
    alone = found.completed.to_table()["x"]
    assert str(column_type(alone)) == str(column_type(column))
    listed = column.to_pylist() if kind == "pyarrow" else column.to_list()
    assert listed == (alone.to_pylist() if kind == "pyarrow" else alone.to_list())
    return listed, str(column_type(column)).split(" ")[0]


def column_type(column):
    return column.dtype if hasattr(column, "dtype") else column.type


@pytest.mark.parametrize("extra", [False, True])
@pytest.mark.parametrize(
    ("kind", "dtype", "states", "after"),
    [
        ("polars", "Null", ("no", "yes"), "String"),
        ("polars", "Null", (1, 300), "Int64"),
        ("polars", "Null", (1, 2.5), "Float64"),
        ("polars", "Float64", ("no", "yes"), "String"),
        ("pyarrow", "null", ("no", "yes"), "string"),
        ("pyarrow", "null", (1, 300), "int64"),
        ("pyarrow", "null", (1, 2.5), "double"),
        ("pyarrow", "double", ("no", "yes"), "string"),
        ("pandas", "object", ("no", "yes"), "object"),
        ("pandas", "float64", ("no", "yes"), "str"),
        ("pandas", "float64", (1, 300), "float64"),
        ("pandas", "Int8", (1, 300), "Int64"),
        ("pandas", "Int8", ("no", "yes"), "str"),
    ],
)
def test_an_empty_column_takes_a_type_for_what_is_filled_in(
    kind, dtype, states, after, extra
):
    values, dtype = filled_frame(kind, states, [None, None], dtype, extra)
    assert values == [states[-1]] * 2
    assert dtype == after


@pytest.mark.parametrize("extra", [False, True])
@pytest.mark.parametrize(
    ("kind", "dtype", "states", "after"),
    [
        ("polars", "Int8", (1, 300), "Int64"),
        ("polars", "Int8", (1, 2.5), "Float64"),
        ("polars", "UInt8", (1, -1), "Int64"),
        ("polars", "Float32", (1, 16_777_217), "Int64"),
        ("polars", "Float32", (1, 0.1), "Float32"),
        ("polars", "Int8", (1, "more"), "String"),
        ("pyarrow", "int8", (1, 300), "int64"),
        ("pyarrow", "int8", (1, 2.5), "double"),
        ("pyarrow", "dictionary", (1, 300), "dictionary<values=int64,"),
        ("pyarrow", "int8", (1, "more"), "string"),
        ("pandas", "Int8", (1, 300), "Int64"),
        ("pandas", "Int8", (1, 2.5), "Float64"),
        ("pandas", "int8[pyarrow]", (1, 300), "int64[pyarrow]"),
        ("pandas", "float32", (1, 16_777_217), "float64"),
    ],
)
def test_numbers_stay_numbers_where_a_state_needs_a_wider_type(
    kind, dtype, states, after, extra
):
    values, dtype = filled_frame(kind, states, [1, None], dtype, extra)
    if after.lower() == "string":
        assert values == [str(state) for state in states]
    else:
        assert values == pytest.approx(list(states), rel=1e-7)
    assert dtype == after


@pytest.mark.parametrize(
    ("array", "states", "filled"),
    [
        (np.array([[1.0], [np.nan]], dtype=np.float32), (1, 2**25 + 1), 2**25 + 1),
        (np.array([["no"], ["?"]]), ("no", "certainly"), "certainly"),
    ],
)
def test_an_array_holds_states_longer_than_its_own(array, states, filled):
    network = bm.Network(bm.Dag.from_arcs(["x0"]), (states,), ([[0.2, 0.8]],))
    result = impute(network, array, missing=["?"]).to_table()
    assert result[:, 0].tolist() == [states[0], filled]


@pytest.fixture
def csv_file(tmp_path):
    path = tmp_path / "rows.csv"
    lines = ["id,wet,note,rain", 'r1,2," a ""b"", ",', "r2,,,no", "r3,0,?,"]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_file_keeps_its_other_columns_letter_by_letter(csv_file, tmp_path):
    found = impute(WET, csv_file)
    out = tmp_path / "out.csv"
    found.write_csv(out)
    lines = ["id,wet,note,rain", 'r1,2," a ""b"", ",yes', "r2,0,,no", "r3,0,?,no"]
    assert out.read_text().splitlines() == lines
    frame = found.to_table()
    assert list(frame["id"]) == ["r1", "r2", "r3"]
    assert list(frame["note"]) == [' a "b", ', "", "?"]
    assert list(frame["wet"]) == [2, 0, 0]


@given(awkward_tables())
@examples(40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_awkward_text_of_other_columns_comes_back(tmp_path, rows):
    header, *cells = [["rain", *row, "wet"] for row in rows]
    header = ["rain", *(f"{k} {name}" for k, name in enumerate(header[1:-1])), "wet"]
    path, out = tmp_path / "in.csv", tmp_path / "out.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL)
        writer.writerow(header)
        writer.writerows(["", *row[1:-1], "2"] for row in cells)
    impute(WET, path, header=True, decimal=".").write_csv(out)
    with out.open(newline="", encoding="utf-8") as file:
        found = oracle.parse_delimited(file.read(), ",")
    assert found == [header, *(["yes", *row[1:-1], "2"] for row in cells)]


def test_a_stray_carriage_return_is_kept_in_its_field(tmp_path):
    path = tmp_path / "in.csv"
    path.write_bytes(b"id,rain,wet\na\rb,,2\nc,,0\n")
    impute(WET, path).write_csv(tmp_path / "out.csv")
    expected = b'id,rain,wet\n"a\rb",yes,2\nc,no,0\n'
    assert (tmp_path / "out.csv").read_bytes() == expected


def test_a_packed_file_without_other_columns_is_written_as_read(tmp_path):
    path = tmp_path / "rows.tsv.gz"
    path.write_bytes(gzip.compress(b"rain\twet\nyes\t\n\t0\n"))
    impute(WET, path).write_csv(tmp_path / "out.tsv")
    assert (tmp_path / "out.tsv").read_text() == "rain\twet\nyes\t2\nno\t0\n"


def test_more_identifiers_than_a_variable_has_states_are_kept(tmp_path):
    path, out = tmp_path / "rows.csv", tmp_path / "out.csv"
    lines = [f"{k},{'yes' if k % 2 else ''},{k % 3}" for k in range(5000)]
    path.write_text("\n".join(["id,rain,wet", *lines]) + "\n")
    impute(WET, path).write_csv(out)
    rows = [line.split(",") for line in out.read_text().splitlines()[1:]]
    assert [row[0] for row in rows] == [str(k) for k in range(5000)]
    assert [row[2] for row in rows] == [str(k % 3) for k in range(5000)]
    assert all(row[1] in ("yes", "no") for row in rows)


def test_a_frame_with_other_columns_is_written_as_text(tmp_path):
    pl = pytest.importorskip("polars")
    path, out = tmp_path / "rows.parquet", tmp_path / "out.csv"
    pl.DataFrame(COLUMNS).head(4).write_parquet(path)
    impute(WET, path).write_csv(out)
    assert out.read_text().splitlines() == [
        "id,wet,when,rain",
        "r0,2,1.5,yes",
        "r1,0,2.5,no",
        "r2,0,,no",
        "r3,2,3.5,yes",
    ]


# --- matching -------------------------------------------------------------------------


def test_numbers_and_text_match_and_keep_the_type_of_the_table():
    found = impute(WET, {"rain": ["yes", "no"], "wet": [None, 1]})
    assert found.to_table() == {"rain": ["yes", "no"], "wet": [2, 1]}
    assert found.completed.states == (("no", "yes"), (0, 1, 2))


def test_booleans_match_their_text():
    network = bm.Network(
        bm.Dag.from_arcs("ab"), (("False", "True"),) * 2, ([[0.2, 0.8]],) * 2
    )
    found = impute(network, {"a": [None, False], "b": [None, "False"]}).to_table()
    assert found == {"a": [True, False], "b": ["True", "False"]}


def test_states_that_the_data_lack_are_added_after_their_own():
    rows = {"rain": ["yes", "yes"], "wet": ["0", None]}
    data = bm.IncompleteData.from_table(rows, columns=list(rows))
    found = impute(WET, data)
    assert found.completed.states == (("yes", "no"), ("0", "1", "2"))
    assert found.to_table() == {"rain": ["yes", "yes"], "wet": ["0", "2"]}


@given(st.permutations(["no", "yes", "never"]), st.permutations(["rain", "wet"]))
def test_the_order_of_variables_and_states_does_not_matter(labels, names):
    rows = {"rain": ["yes", None], "wet": [None, "2"]}
    states = {"rain": labels, "wet": ["2", "0"]}
    data = bm.IncompleteData.from_table({n: rows[n] for n in names}, states=states)
    assert impute(WET, data).to_table() == {"rain": ["yes"] * 2, "wet": ["2"] * 2}


def test_other_variables_of_a_coded_table_keep_their_holes():
    data = bm.IncompleteData.from_table(
        {"other": ["a", None], "rain": [None, "no"], "wet": ["2", "0"]},
        columns=["other", "rain", "wet"],
    )
    found = impute(WET, data)
    assert found.extra == ("other",)
    assert found.to_table() == {
        "other": ["a", None],
        "rain": ["yes", "no"],
        "wet": ["2", "0"],
    }


@pytest.mark.parametrize("kind", ["mapping", "coded", "pandas", "polars", "arrow"])
def test_variables_that_the_table_lacks_are_added_when_allowed(kind):
    rows = {"id": ["a", "b"], "wet": ["2", "0"]}
    as_kind = {
        "mapping": lambda: rows,
        "coded": lambda: bm.IncompleteData.from_table(rows),
        "pandas": lambda: pytest.importorskip("pandas").DataFrame(rows),
        "polars": lambda: pytest.importorskip("polars").DataFrame(rows),
        "arrow": lambda: pytest.importorskip("pyarrow").table(rows),
    }
    given = as_kind[kind]()
    with pytest.raises(DataError, match="lacks 1 of the 2 variables of the network: r"):
        impute(WET, given)
    found = impute(WET, given, allow_absent=True)
    assert found.absent == ("rain",)
    result = found.to_table()
    columns = {"arrow": "to_pydict", "polars": "to_dict"}.get(kind)
    result = getattr(result, columns)() if columns else result
    assert {name: list(values) for name, values in result.items()} == {
        "id": ["a", "b"],
        "wet": ["2", "0"],
        "rain": ["yes", "no"],
    }


def test_numbers_are_cut_as_the_training_data_were():
    rule = bm.data.Discretization.from_cuts({"age": [18, 65]})
    network = bm.Network(
        bm.Dag.from_arcs(["age", "job"], [("age", "job")]),
        (rule.labels("age"), ("no", "yes")),
        ([[0.2, 0.6, 0.2]], [[0.9, 0.1], [0.2, 0.8], [0.8, 0.2]]),
    )
    rows = {"age": [12.0, 40.0, None], "job": [None, None, "yes"]}
    for how in (rule, {"age": [18, 65]}):
        found = impute(network, rows, discretize=how)
        assert found.to_table()["job"] == ["no", "yes", "yes"]
        assert found.to_table()["age"] == [12.0, 40.0, 40.0]
        labels = impute(network, rows, discretize=how, fill="interval").to_table()
        assert labels["age"] == ["<=18", "18<x<=65", "18<x<=65"]


@pytest.mark.parametrize(
    ("rows", "options", "error", "message"),
    [
        (
            {"rain": ["maybe"], "wet": [None]},
            {},
            DataError,
            r"variable 'rain' has no state 'maybe' in row 0. Its states: no, yes.",
        ),
        (
            {"x": [1], "y": [2]},
            {"allow_absent": True},
            DataError,
            r"no column of the table is a variable of the network. It has: x, y. The "
            r"network has: rain, wet. Rename the columns.",
        ),
        (
            {"rain": [None], "wet": ["0"]},
            {"missing": ["", "no"]},
            DataError,
            r"state 'no' of variable 'rain' is also a marker of missing cells. List",
        ),
        (
            {"rain": [None], "wet": ["0"]},
            {"discretize": {"age": [1]}},
            DataError,
            r"no variable named 'age'. Available: rain, wet.",
        ),
        (
            {"rain": [None], "wet": [1.5]},
            {"discretize": {"wet": [1]}},
            DataError,
            r"variable 'wet' has no state '<=1'. Its states: 0, 1, 2.",
        ),
        (
            {"rain": [None], "wet": ["0"]},
            {"method": "mode"},
            ParameterError,
            r"method must be one of mpe, marginal, draw. Got 'mode' instead.",
        ),
        (
            {"rain": [None], "wet": ["0"]},
            {"n_draws": 2},
            ParameterError,
            r"n_draws=2 goes with method='draw'. Got 'mpe' instead.",
        ),
        (
            {"rain": [None], "wet": ["0"]},
            {"inference": "loopy", "method": "draw"},
            ParameterError,
            r"inference must be one of exact, weighting. Got 'loopy' instead.",
        ),
    ],
)
def test_what_cannot_be_imputed_is_refused(rows, options, error, message):
    with pytest.raises(error, match=message):
        impute(WET, rows, **options)


def test_an_unknown_label_of_coded_data_is_named_with_its_row():
    data = bm.IncompleteData.from_table({"rain": ["no", "maybe"], "wet": ["0", "1"]})
    message = r"variable 'rain' has no state 'maybe' in row 1. Its states: no, yes."
    with pytest.raises(DataError, match=message):
        impute(WET, data)


def test_an_unknown_label_of_a_file_is_named_with_its_line(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("rain,wet\nno,\nmaybe,\n")
    with pytest.raises(DataError, match=r"no state 'maybe' in line 3 of rows.csv. Its"):
        impute(WET, path)


def test_a_category_that_no_row_uses_does_not_matter():
    pd = pytest.importorskip("pandas")
    rain = pd.Categorical([None, "no"], categories=["never", "no", "yes"])
    frame = pd.DataFrame({"rain": rain, "wet": ["2", "0"]})
    assert list(impute(WET, frame).to_table()["rain"]) == ["yes", "no"]


def test_what_is_read_for_a_network_keeps_its_place():
    new = read_for(WET, {"wet": ["2", None], "id": [1, 2], "rain": [None, "no"]})
    assert new.cells.tolist() == [[MISSING, 0], [2, MISSING]]
    assert new.columns == (1, 0)
    assert new.n_rows == 2


def test_a_summary_is_plain_for_json():
    facts = impute(WET, COLUMNS).to_dict()
    assert facts["n_imputed"] == sum(facts["imputed"].values()) == 400
    assert facts["imputed"] == {"rain": 200, "wet": 200}
    assert 0 < facts["lowest_probability"] < facts["mean_probability"] < 1
    assert (facts["extra"], facts["absent"]) == (["id", "when"], [])
    full = impute(WET, {"rain": ["no"], "wet": ["0"]}).to_dict()
    assert (full["n_imputed"], full["mean_probability"]) == (0, None)


# --- long tables ----------------------------------------------------------------------


@pytest.mark.parametrize("fill_empty_rows", [True, False])
@pytest.mark.parametrize("method", ["mpe", "marginal"])
def test_filling_some_rows_after_the_other_changes_nothing(
    method, fill_empty_rows, monkeypatch
):
    network = bm.load_network("asia")
    hidden = bm.hide_mcar(network.sample(90, seed=1), 0.3, seed=1).data
    codes = hidden.codes.copy(order="F")
    codes[[3, 50]] = MISSING
    frame = hidden.with_codes(codes).to_table()
    table = {"id": [f"r{k}" for k in range(90)], **frame}
    whole = bm.impute(network, table, method=method, fill_empty_rows=fill_empty_rows)
    monkeypatch.setattr(sys.modules["bayesmend.inference.impute"], "_ROWS_AT_ONCE", 17)
    parts = bm.impute(network, table, method=method, fill_empty_rows=fill_empty_rows)
    assert parts.to_table() == whole.to_table()
    assert list(parts.cells) == list(whole.cells)
    assert parts.n_empty_rows == whole.n_empty_rows == 2


def test_an_impossible_row_of_a_long_table_is_named_by_its_number(monkeypatch):
    network = bm.Network(
        bm.Dag.from_arcs(["a", "b", "c"], [("a", "b")]),
        ((0, 1),) * 3,
        ([[0.5, 0.5]], [[1.0, 0.0], [0.0, 1.0]], [[0.5, 0.5]]),
    )
    rows = {"a": [0] * 9, "b": [0] * 7 + [1, 0], "c": [None] * 9}
    with pytest.raises(InferenceError) as whole:
        bm.impute(network, rows)
    monkeypatch.setattr(sys.modules["bayesmend.inference.impute"], "_ROWS_AT_ONCE", 2)
    with pytest.raises(InferenceError) as parts:
        bm.impute(network, rows)
    assert str(parts.value) == str(whole.value)
