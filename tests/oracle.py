"""Slow, obvious twins in plain Python; nothing from the package is imported."""

import contextlib
import math


def changed_cells(before, after):
    """{(row, variable): (old, new)} for the cells in which two tables differ."""
    changed = {}
    for row, (old_row, new_row) in enumerate(zip(before, after, strict=True)):
        for variable, (old, new) in enumerate(zip(old_row, new_row, strict=True)):
            if old != new:
                changed[row, variable] = (old, new)
    return changed


def count_value(rows, n_vars, code):
    """Number of cells of each variable that hold a code."""
    return [sum(1 for row in rows if row[v] == code) for v in range(n_vars)]


def two_rates(rate, share, odds_ratio):
    """Rates of two groups with a given odds ratio and a given overall rate.

    The second group has `share` of the cells and the higher odds. With p the rate of
    the first group, the second has r p / (1 - p + r p); their mean is monotone in p.
    """
    low, high = 0.0, 1.0
    for _ in range(200):
        p = (low + high) / 2
        q = odds_ratio * p / (1 - p + odds_ratio * p)
        if (1 - share) * p + share * q < rate:
            low = p
        else:
            high = p
    return p, q


def mean_and_shifts(log_odds, counts, probabilities):
    """Expected number of hidden cells, and each group's distance from its log-odds."""
    expected, shifts = 0.0, []
    for eta, count, p in zip(log_odds, counts, probabilities, strict=True):
        expected += count * p
        if count > 0 and 1e-12 < p < 1 - 1e-12:
            shifts.append(math.log(p) - math.log1p(-p) - eta)
    return expected, shifts


def same_grouping(rows, group):
    """Whether rows share a group number exactly when they are equal."""
    pairs = {(tuple(row), number) for row, number in zip(rows, group, strict=True)}
    return len({row for row, _ in pairs}) == len(pairs) == len({g for _, g in pairs})


# --- family counts and scores ---------------------------------------------------------


def family_counts(rows, card, child, parents, weights=None):
    """counts[j][k] by looping; the first parent varies fastest along j."""
    n_configs = math.prod(card[p] for p in parents)
    counts = [[0.0] * card[child] for _ in range(n_configs)]
    for number, row in enumerate(rows):
        config, stride = 0, 1
        for parent in parents:
            config += stride * row[parent]
            stride *= card[parent]
        counts[config][row[child]] += 1 if weights is None else weights[number]
    return counts


def family_score(rows, card, child, parents, kind, ess=1.0, weights=None, penalty=0.0):
    """The textbook formula of each score, term by term."""
    counts = family_counts(rows, card, child, parents, weights)
    total = sum(map(sum, counts))
    paid = penalty * len(parents)
    if kind in ("bdeu", "k2"):
        cell = 1.0 if kind == "k2" else ess / (len(counts) * card[child])
        return _dirichlet(counts, cell) - paid
    likelihood = sum(n * math.log(n / sum(row)) for row in counts for n in row if n > 0)
    free = len(counts) * (card[child] - 1)
    price = {"loglik": 0.0, "aic": 1.0, "bic": math.log(total) / 2 if total else 0.0}
    return likelihood - price[kind] * free - paid


def _dirichlet(counts, cell):
    score = 0.0
    for row in counts:
        whole = cell * len(row)
        score += math.lgamma(whole) - math.lgamma(whole + sum(row))
        score += sum(math.lgamma(cell + n) - math.lgamma(cell) for n in row)
    return score


# --- tables -----------------------------------------------------------------------


def parse_delimited(text, delimiter):
    """Rows of cells by RFC 4180, one character at a time; ("kind", line) if none.

    Blank lines at the end carry no row, a quote inside an unquoted cell is a letter.
    """
    text = text.removeprefix("\ufeff").rstrip("\r\n")
    rows, row, i, n, row_begin = [], [], 0, len(text), 0
    if not text:
        return "no_header", 0
    while True:
        begin, cell = i, ""
        if text[i : i + 1] == '"':
            i += 1
            while True:
                if i >= n:
                    return "open_quote", 1 + text.count("\n", 0, begin)
                if text[i] == '"' and text[i + 1 : i + 2] == '"':
                    cell, i = cell + '"', i + 2
                elif text[i] == '"':
                    i += 1
                    break
                else:
                    cell, i = cell + text[i], i + 1
            if text[i : i + 2] == "\r\n":
                i += 1
            if i < n and text[i] not in (delimiter, "\n"):
                return "after_quote", 1 + text.count("\n", 0, i)
        else:
            while i < n and text[i] not in (delimiter, "\n"):
                cell, i = cell + text[i], i + 1
            if text[i : i + 1] == "\n":
                cell = cell.removesuffix("\r")
        row.append(cell)
        if i < n and text[i] == delimiter:
            i += 1
            continue
        rows.append(row)
        if len(row) != len(rows[0]):
            return "ragged", 1 + text.count("\n", 0, row_begin)
        row, i = [], i + 1
        row_begin = i
        if i > n - 1:
            return rows


def encode_column(values, is_missing):
    """States in order (numeric text by value) and the code of each value, or None."""
    distinct = sorted({v for v in values if not is_missing(v)})
    with contextlib.suppress(ValueError):
        distinct.sort(key=lambda v: (float(v), v))
    return distinct, [None if is_missing(v) else distinct.index(v) for v in values]


def distinct_rows(rows, weights):
    """Distinct rows in order of occurrence, with counts, weights and inverse."""
    distinct, counts, sums, inverse = [], [], [], []
    for row, weight in zip(rows, weights, strict=True):
        if row not in distinct:
            distinct.append(row)
            counts.append(0)
            sums.append(0.0)
        k = distinct.index(row)
        counts[k] += 1
        sums[k] += weight
        inverse.append(k)
    return distinct, counts, sums, inverse


def interval_of(number, cuts):
    """Position of the first interval whose upper end is at least the number."""
    for position, cut in enumerate(cuts):
        if number <= cut:
            return position
    return len(cuts)


def quantile_cuts(numbers, n_bins):
    """Least values reached by i / n_bins of the numbers, without the greatest."""
    ranked, cuts = sorted(numbers), []
    for i in range(1, n_bins):
        for rank, number in enumerate(ranked, 1):
            if rank * n_bins >= i * len(ranked):
                cuts.append(number)
                break
    return sorted({cut for cut in cuts if cut < ranked[-1]})


def describe(rows, n_vars):
    """Per variable counts of codes; how often exactly which cells are missing."""
    counts = [{} for _ in range(n_vars)]
    holes = {}
    for row in rows:
        for variable, code in enumerate(row):
            counts[variable][code] = counts[variable].get(code, 0) + 1
        missing = tuple(v for v, code in enumerate(row) if code == 255)
        holes[missing] = holes.get(missing, 0) + 1
    return counts, holes
