"""Slow, obvious twins in plain Python; nothing from the package is imported."""

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
    likelihood = sum(
        n * math.log(n / sum(row)) for row in counts for n in row if n > 0
    )
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
