"""What the examples on pages are run with.

The modules of the site need Sphinx. Pages for those who come from elsewhere show what
other packages say, and are run by tests/docs; the gallery is run where it is made.
"""

collect_ignore = ["conf.py", "extensions", "gallery.md"]
collect_ignore_glob = ["coming-from/[!i]*"]
