"""Other ways to fill missing cells, from other packages or the literature."""
