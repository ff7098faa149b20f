"""Files completed one by one: what completing each of them whole gives."""

import numpy as np
import polars as pl
import pytest

import bayesmend as bm
from bayesmend.data import blocks
from bayesmend.errors import DataError, ParameterError
from bayesmend.inference import impute_files


def holed(n_rows, seed):
    return bm.hide_mcar(
        bm.load_network("asia").sample(n_rows, seed=seed), 0.2, seed=seed
    ).data


@pytest.fixture
def folder(tmp_path):
    for k, n_rows in enumerate((40, 0, 90)):
        frame = holed(max(n_rows, 1), k).to_polars()[:n_rows]
        frame = frame.with_columns(
            pl.Series("id", [f"{k}-{r}" for r in range(n_rows)], dtype=pl.String)
        )
        frame.write_csv(tmp_path / f"part-{k}.csv")
        frame.write_parquet(tmp_path / f"part-{k}.parquet")
    return tmp_path


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("block", [200, 1 << 25])
def test_each_file_is_completed_as_it_is_whole(folder, suffix, block, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK", block)
    asia = bm.load_network("asia")
    found = impute_files(asia, str(folder / f"part-*.{suffix}"), folder / "out")
    assert [path.name for path in found.files] == [
        f"part-{k}.{suffix}" for k in range(3)
    ]
    read = pl.read_csv if suffix == "csv" else pl.read_parquet
    n_cells = 0
    for path in found.files:
        whole = bm.impute(asia, folder / path.name, columns=list(asia.names))
        n_cells += len(whole.cells)
        whole.write_csv(folder / "whole.csv")
        written = read(path, infer_schema=False) if suffix == "csv" else read(path)
        expected = pl.read_csv(folder / "whole.csv", infer_schema=False)
        assert written.equals(expected.select(written.columns))
    assert (found.n_rows, found.n_imputed, found.extra) == (130, n_cells, ("id",))


def test_one_file_is_written_as_one(folder):
    out = folder / "filled.csv"
    found = impute_files(bm.load_network("asia"), folder / "part-0.csv", out)
    assert found.files == (out,)
    names = list(bm.load_network("asia").names)
    assert bm.IncompleteData.from_csv(out, columns=names).is_complete


def test_draws_are_repeated_by_a_seed(folder):
    asia, files = bm.load_network("asia"), str(folder / "part-*.csv")
    for name in ("a", "b"):
        impute_files(asia, files, folder / name, method="draw", seed=1)
    for k in range(3):
        one, two = (folder / name / f"part-{k}.csv" for name in "ab")
        assert one.read_bytes() == two.read_bytes()


def test_files_are_not_replaced_in_silence(folder):
    asia, files = bm.load_network("asia"), str(folder / "part-*.csv")
    impute_files(asia, files, folder / "out")
    with pytest.raises(ParameterError, match=r"part-0\.csv' exists"):
        impute_files(asia, files, folder / "out")
    impute_files(asia, files, folder / "out", force=True)
    with pytest.raises(ParameterError, match="is the file that is read"):
        impute_files(asia, files, folder, force=True)


def test_a_file_that_fails_leaves_none_behind(folder):
    (folder / "part-3.csv").write_text((folder / "part-0.csv").read_text() + "x\n")
    out = folder / "out"
    with pytest.raises(DataError, match=r"part-3\.csv, line 42 has 1 field"):
        impute_files(bm.load_network("asia"), str(folder / "part-*.csv"), out)
    assert sorted(path.name for path in out.iterdir()) == [
        f"part-{k}.csv" for k in range(3)
    ]


def test_formats_and_names_must_go_together(folder):
    asia = bm.load_network("asia")
    with pytest.raises(ParameterError, match="another format"):
        impute_files(asia, folder / "part-0.csv", folder / "a.parquet")
    (folder / "more").mkdir()
    (folder / "more" / "part-0.csv").write_bytes((folder / "part-0.csv").read_bytes())
    with pytest.raises(ParameterError, match="two of the files are called"):
        impute_files(
            asia, [folder / "part-0.csv", folder / "more" / "part-0.csv"], folder / "o"
        )


def test_cut_points_are_not_chosen_file_by_file(folder):
    with pytest.raises(ParameterError, match="other cut points in every file"):
        impute_files(
            bm.load_network("asia"),
            folder / "part-0.csv",
            folder / "o.csv",
            discretize={"asia": 4},
        )


def test_a_known_mechanism_needs_a_choice(folder):
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 300)
    b = np.where(rng.random(300) < 0.9, a, 1 - a)
    cells = [None if x and rng.random() < 0.7 else int(x) for x in b]
    table = {"a": a.tolist(), "b": cells}
    network = bm.learn_em(table, mechanism="self", seed=1).network
    pl.DataFrame(table).write_csv(folder / "t.csv")
    with pytest.raises(ParameterError, match="Choose mechanism='always'"):
        impute_files(network, folder / "t.csv", folder / "u.csv")
    impute_files(network, folder / "t.csv", folder / "u.csv", mechanism="always")
    expected = bm.impute(network, folder / "t.csv", mechanism="always")
    expected.write_csv(folder / "v.csv")
    assert (folder / "u.csv").read_text() == (folder / "v.csv").read_text()
