"""The documentation site: `make docs`."""

import sys
from importlib.metadata import version as version_of
from pathlib import Path

import matplotlib

sys.path.insert(0, str(Path(__file__).parent))
matplotlib.use("agg")

project = "bayesmend"
author = "the bayesmend developers"
copyright = "the bayesmend developers"
version = release = version_of("bayesmend")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "extensions.examples",
    "extensions.names",
    "extensions.pictures",
]
exclude_patterns = ["site", "extensions"]
templates_path = ["site/templates"]
nitpicky = True
show_warning_types = True

myst_heading_anchors = 3
myst_links_external_new_tab = False
smartquotes_action = "D"  # dashes of descriptions; quotes stay as they are

default_role = "py:obj"
toc_object_entries = False
autosummary_generate = True
autosummary_ignore_module_all = False
autodoc_typehints = "none"  # docstrings say it in words
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True}
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False
napoleon_preprocess_types = True

html_theme = "furo"
html_title = f"bayesmend {release}"
html_static_path = ["site/static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False
pygments_style = "friendly"
pygments_dark_style = "monokai"
