"""Pages made of the scripts of the package, for the tests that look at them."""

from bayesmend.view import script, style
from bayesmend.view.packed import as_json


def page_of(data, *, modules=("network",), start=""):
    """Return a page with what the scripts export in ``window.view``, and some data."""
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        f"<title>View</title><style>{style('view')}</style></head><body>"
        '<main><h1>View</h1><div id="host"></div></main>'
        f'<script type="application/json" id="data">{as_json(data)}</script>'
        f'<script type="module">{script(modules)}\n'
        "const data = JSON.parse(document.getElementById('data').textContent);"
        f"{start}</script></body></html>"
    )
