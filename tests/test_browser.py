"""The page that other tests open tells of everything that a page must not do."""

import pytest


def problems(page, watch, html):
    """Show a page that misbehaves; return what was noticed, and forget it."""
    page.set_content(f"<!doctype html><title>page</title>{html}")
    page.wait_for_timeout(200)
    found, watch.problems = watch.problems, []
    return found


def test_a_quiet_page_has_no_problems(page, watch, tmp_path):
    path = tmp_path / "quiet.html"
    path.write_text("<!doctype html><title>quiet</title><p>ä", encoding="utf-8")
    page.goto(path.as_uri())
    assert page.locator("p").inner_text() == "ä"
    assert watch.problems == []


@pytest.mark.parametrize(
    ("html", "noticed"),
    [
        ("<script>console.error('oh')</script>", "console error: oh"),
        ("<script>console.warn('hm')</script>", "console warning: hm"),
        ("<script>throw new Error('oh no')</script>", "uncaught: oh no"),
        ("<img src='http://example.invalid/a.png'>", "example.invalid/a.png"),
        ("<script>fetch('http://localhost:1/x')</script>", "localhost:1/x"),
        ("<script>new WebSocket('ws://example.invalid/')</script>", "ws://example"),
    ],
)
def test_what_a_page_must_not_do_is_noticed(page, watch, html, noticed):
    assert any(noticed in problem for problem in problems(page, watch, html))
