"""The command convert: formats, files and streams."""

import gzip

import pytest
from support.clirunner import fails, ok

from bayesmend.datasets import load_network
from bayesmend.formats import read_network


@pytest.mark.parametrize("suffix", ["bif", "xmlbif", "json", "graphml", "bif.gz"])
def test_convert_writes_what_reads_back_equal(tmp_path, suffix):
    out = tmp_path / f"asia.{suffix}"
    assert ok("convert", "asia", out) == ""
    assert read_network(out).is_close(load_network("asia"))
    assert [path.name for path in tmp_path.iterdir()] == [out.name]


@pytest.mark.parametrize("form", ["bif", "xmlbif", "json", "graphml"])
def test_convert_reads_stdin_and_writes_stdout(form):
    text = ok("convert", "asia", "-", "--to", form)
    assert ok("convert", "-", "-", "--to", "bif", stdin=text) == ok(
        "convert", "asia", "-", "--to", "bif"
    )
    packed = gzip.compress(text.encode())
    assert ok("convert", "-", "-", "--to", form, stdin=packed) == text


def test_convert_never_replaces_a_file_in_silence(tmp_path):
    out = tmp_path / "net.json"
    out.write_text("mine")
    assert fails(1, "convert", "asia", out) == (
        f"Error: '{out}' exists. Pass --force to replace it."
    )
    assert out.read_text() == "mine"
    ok("convert", "asia", out, "--force")
    assert read_network(out).n_vars == 8


@pytest.mark.parametrize("args", [["-"], ["x.bif", "--to", "json"]])
def test_stdout_needs_a_format_and_a_file_has_its_own(args):
    message = "--to FORMAT goes with OUT -, and OUT - needs it."
    assert message in fails(2, "convert", "asia", *args)


def test_an_unknown_format_on_stdout_is_a_usage_error():
    message = fails(2, "convert", "asia", "-", "--to", "doc")
    assert "--to must be one of bif, " in message
    assert "Got 'doc' instead" in message


def test_an_unknown_format_of_a_file_is_an_error(tmp_path):
    assert "no format for" in fails(1, "convert", "asia", tmp_path / "asia.doc")


def test_an_unknown_network_is_an_error(tmp_path):
    assert fails(1, "convert", "asiaa", tmp_path / "x.bif") == (
        "Error: there is no file 'asiaa' and no shipped network of that name. "
        "Shipped: asia, lucas."
    )


def test_outputs_are_checked_before_any_work(tmp_path):
    there = tmp_path / "no" / "x.bif"
    assert fails(1, "convert", "asia", there) == (
        f"Error: there is no folder '{there.parent}'. Create it first."
    )
    assert fails(1, "convert", "asia", tmp_path) == (
        f"Error: '{tmp_path}' is a folder. Name a file in it."
    )


def test_a_malformed_network_says_where(tmp_path):
    path = tmp_path / "bad.bif"
    path.write_text("network x {\n}\nvariable a {\n  type discrete [ 2 ] { x y };\n}\n")
    message = fails(1, "convert", path, tmp_path / "out.json")
    assert f"{path}, line " in message or "bad.bif, line " in message
    message = fails(1, "convert", "-", tmp_path / "out.json", stdin=path.read_text())
    assert "<stdin>, line " in message


@pytest.mark.parametrize(
    "content", [b"\x1f\x8b", gzip.compress(b"network x", mtime=0)[:-3]]
)
def test_a_broken_gzip_stream_on_stdin_is_an_error(content):
    message = fails(1, "convert", "-", "-", "--to", "json", stdin=content)
    assert "<stdin>" in message
    assert "no complete gzip file" in message
