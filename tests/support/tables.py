"""Tables written for a test."""

import numpy as np


def write_csv(path, columns, n_rows, seed=1):
    """Write a table of random labels; columns map names to labels with their shares."""
    generator = np.random.default_rng(seed)
    drawn = [
        generator.choice(list(shares), n_rows, p=list(shares.values()))
        for shares in columns.values()
    ]
    lines = [",".join(columns), *map(",".join, zip(*drawn, strict=True))]
    path.write_text("\n".join(lines) + "\n")
