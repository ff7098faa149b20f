"""Tables whose rows are on the workers of a cluster, and counted there."""
