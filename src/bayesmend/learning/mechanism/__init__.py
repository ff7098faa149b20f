"""Why cells are missing: indicators, what explains them, and the search for both."""
