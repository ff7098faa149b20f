"""What the terminal says of guesses about files."""

import pytest
from support.clirunner import fails, run

import bayesmend as bm


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    path = tmp_path_factory.mktemp("net") / "net.json"
    table = {"a": ["é", "f", "f", None] * 10, "b": ["x", "y", "y", "y"] * 10}
    bm.write_network(bm.learn(table, time_limit=5).network, path)
    return path


def test_impute_tells_how_the_file_was_read(tmp_path, network):
    path = tmp_path / "t.csv"
    path.write_bytes("a,b\né,x\n,y\n".encode("cp1252"))
    result = run("impute", network, path)
    assert result.exit_code == 0
    assert result.stderr == (
        "Warning: t.csv: the text is not UTF-8 and was read as Windows-1252 (set"
        " --encoding for another).\n"
    )
    assert run("impute", network, path, "--encoding", "cp1252").stderr == ""


def test_impute_tells_with_an_error_that_no_line_holds_names(tmp_path, network):
    path = tmp_path / "t.csv"
    path.write_text("f,1\nf,2\n,1\nf,2\n")
    message = fails(1, "impute", network, path)
    assert "no column of the table is a variable of the network" in message
    assert message.endswith(
        "Guessed of t.csv: the first line looks like data, so the columns are called"
        " x0, x1, ... (set --header if it holds names, or give --names)."
    )


def test_another_sheet_is_suggested_with_an_error(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.title = "Notes"
    book.active.append(["made in 2020"])
    data = book.create_sheet("Data")
    for row in (["a", "b"], [1, 2], [2, 1]):
        data.append(row)
    book.save(tmp_path / "t.xlsx")
    message = fails(1, "summary", tmp_path / "t.xlsx")
    assert message.endswith(
        "Guessed of t.xlsx: there are 2 sheets with cells (Notes, Data), and 'Notes'"
        " was read (set --sheet for another)."
    )


def test_stdin_is_called_stdin():
    result = run("summary", "-", stdin="a;b\n1,5;x\n2,5;y\n")
    assert result.exit_code == 0
    assert result.stderr == (
        "Warning: <stdin>: numbers have a decimal comma (write cut points as 1.5, with"
        " a point).\n"
    )


def test_several_problems_have_a_line_each(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n2,1\n")
    result = run("summary", path, "--drop", "q", "--states", "r=1,2")
    assert result.exit_code == 1
    assert result.stderr == (
        "Error: 2 things are in the way:\n"
        "- no variable named 'r'. Available: a, b.\n"
        "- no variable named 'q'. Available: a, b.\n"
    )


def test_names_with_commas_are_spelled_as_they_are_typed(tmp_path):
    path = tmp_path / "t.csv"
    rows = "".join(f"word{i} {i},{i % 2}\n" for i in range(40))
    path.write_text('"text, free",b\n' + rows)
    result = run("summary", path)
    assert """Choose with --model '"text, free"'.""" in result.stderr
    result = run("summary", path, "--model", '"text, free"')
    assert (result.exit_code, result.stderr) == (0, "")
    message = fails(1, "summary", path, "--drop", "text")
    assert "no variable named 'text'. Available: 'text, free', b." in message


def test_numbers_with_a_few_words_are_told(tmp_path):
    path = tmp_path / "t.csv"
    rows = "".join(f"{i % 30},{i % 15}%,{i % 2}\n" for i in range(300))
    path.write_text("age,share,c\n" + rows + "low,?,1\n")
    result = run("summary", path)
    assert result.stderr.splitlines() == [
        "Warning: t.csv was read by guesses.",
        "- age has 30 different numbers and 1 other label (low): to have numbers that"
        " are cut, make it missing with --missing '?' --missing low.",
        "- share has percentages such as 0%, which are labels: to have numbers, remove"
        " the %.",
    ]
    markers = ("--missing", "?", "--missing", "low")
    assert "age (3)" in run("summary", path, *markers).stderr
    rows = "".join(f"{i},{i % 2}\n" for i in range(1, 60))
    path.write_text("age,c\n" + rows + "low,1\n")
    assert "1 other label (low)" in run("summary", path, "--header").stderr
    path.write_text("age,c\n" + "".join(f"{i}x,{i % 2}\n" for i in range(300)))
    assert "other label" not in run("summary", path).stderr


def test_names_with_equals_signs_can_be_cut(tmp_path):
    path = tmp_path / "t.csv"
    rows = "".join(f"{i * 37 % 101},{i % 2}\n" for i in range(100))
    path.write_text("a=b,c\n" + rows)
    result = run("summary", path, "--discretize", "a=b=4")
    assert (result.exit_code, result.stderr) == (0, "")
    assert run("summary", path, "--discretize", "a=b=cuts:10,20").exit_code == 0
