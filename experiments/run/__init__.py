"""From a design to raw rows."""
