"""The experiments of the paper, carried out again."""
