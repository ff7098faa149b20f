"""What the site does beyond Sphinx: examples that are run, pictures, and names."""
