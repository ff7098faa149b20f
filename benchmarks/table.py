"""Plain tables on standard output."""


def show(value):
    if isinstance(value, float):
        if value == 0 or 1e-3 <= abs(value) < 1e6:
            return f"{value:,.3f}" if abs(value) < 100 else f"{value:,.1f}"
        return f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def print_table(header, rows):
    cells = [[show(value) for value in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(header, *cells, strict=True)]
    for row in (header, *cells):
        print("  ".join(c.rjust(w) for c, w in zip(row, widths, strict=True)))
