"""From raw rows to tables and figures."""
