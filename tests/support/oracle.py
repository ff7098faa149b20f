"""Slow, obvious twins in plain Python; nothing from the package is imported."""

import contextlib
import functools
import itertools
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

USUAL_PRIOR = {
    **dict.fromkeys(("bdeu", "bds", "k2"), "fair"),
    **dict.fromkeys(("bic", "aic", "qnml", "loglik"), "uniform"),
}


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


def family_score(
    rows,
    card,
    child,
    parents,
    kind,
    ess=1.0,
    weights=None,
    penalty=0.0,
    prior=None,
    choices=None,
):
    """The textbook formula of each score, term by term.

    `choices` are the numbers of parents that the child may have beside those it must,
    and of those it must; without constraints all the others and none.
    """
    counts = family_counts(rows, card, child, parents, weights)
    total = sum(map(sum, counts))
    paid = penalty * len(parents) + prior_cost(
        kind, prior, len(parents), choices or (len(card) - 1, 0)
    )
    if kind in ("bdeu", "k2"):
        cell = 1.0 if kind == "k2" else ess / (len(counts) * card[child])
        return _dirichlet(counts, cell) - paid
    if kind == "bds":
        n_occurring = sum(1 for row in counts if sum(row) > 0) or 1
        return _dirichlet(counts, ess / (n_occurring * card[child])) - paid
    likelihood = sum(n * math.log(n / sum(row)) for row in counts for n in row if n > 0)
    if kind == "qnml":
        joint = regret(len(counts) * card[child], total)
        return likelihood - joint + regret(len(counts), total) - paid
    free = len(counts) * (card[child] - 1)
    price = {"loglik": 0.0, "aic": 1.0, "bic": math.log(total) / 2 if total else 0.0}
    return likelihood - price[kind] * free - paid


def prior_cost(kind, prior, n_parents, choices):
    """What a parent set of this size costs: log of how many of the size there are."""
    if (prior or USUAL_PRIOR[kind]) == "uniform":
        return 0.0
    n_optional, n_required = choices
    return math.log(math.comb(n_optional, n_parents - n_required))


def unsupported(rows, completed, members, weights=None):
    """Weight of the rows in cells of `members` that no row with all of them shows.

    `rows` has None where a cell was missing before the table was completed.
    """
    weights = [1] * len(rows) if weights is None else weights
    shown = {
        tuple(row[v] for v in members)
        for row, weight in zip(rows, weights, strict=True)
        if weight > 0 and all(row[v] is not None for v in members)
    }
    return sum(
        weight
        for row, weight in zip(completed, weights, strict=True)
        if tuple(row[v] for v in members) not in shown
    )


def supported_score(
    rows,
    completed,
    card,
    child,
    parents,
    kind,
    ess=1.0,
    weights=None,
    penalty=0.0,
    support=0.0,
    prior=None,
    choices=None,
):
    """The score of a completed family less `support` a row without an example."""
    plain = family_score(
        *(completed, card, child, parents, kind, ess, weights, penalty, prior, choices)
    )
    return plain - support * unsupported(rows, completed, (child, *parents), weights)


def regret(n_cells, n_rows):
    """Log of the sum of the largest likelihoods of all tables of so many rows.

    Between two whole numbers of rows, on the line between their values.
    """
    below = math.floor(n_rows)
    share = n_rows - below
    value = (1 - share) * _whole_regret(n_cells, below)
    return value + share * _whole_regret(n_cells, below + 1) if share else value


def _whole_regret(n_cells, n_rows):
    if n_rows <= 100:
        return math.log(_largest_likelihoods(n_cells, n_rows))
    # From one and two cells on, each number of cells follows from the two before it.
    ratio = sum(
        math.exp(
            math.lgamma(n_rows + 1) - math.lgamma(n_rows - k + 1) - k * math.log(n_rows)
        )
        for k in range(n_rows + 1)
    )
    value = 0.0
    for k in range(1, n_cells):
        value += math.log(ratio)
        ratio = 1 + n_rows / k / ratio
    return value


@functools.cache
def _largest_likelihoods(n_cells, n_rows):
    """Over how many rows fall into the first half of the cells: what each half adds."""
    if n_cells == 1 or n_rows == 0:
        return 1.0
    half = n_cells // 2
    return sum(
        math.comb(n_rows, first)
        * (first / n_rows) ** first
        * ((n_rows - first) / n_rows) ** (n_rows - first)
        * _largest_likelihoods(half, first)
        * _largest_likelihoods(n_cells - half, n_rows - first)
        for first in range(n_rows + 1)
    )


def _dirichlet(counts, cell):
    score = 0.0
    for row in counts:
        whole = cell * len(row)
        score += math.lgamma(whole) - math.lgamma(whole + sum(row))
        score += sum(math.lgamma(cell + n) - math.lgamma(cell) for n in row)
    return score


# Graphs: a graph over variables 0 .. n - 1 is a set of arcs (parent, child).


def is_acyclic(n, arcs):
    """Remove variables without parents until none is left or none can go."""
    left = set(range(n))
    while left:
        sources = {v for v in left if not any(b == v and a in left for a, b in arcs)}
        if not sources:
            return False
        left -= sources
    return True


def all_dags(n):
    """Every directed acyclic graph: each pair unjoined, forward or backward."""
    pairs = list(itertools.combinations(range(n), 2))
    for choice in itertools.product((0, 1, 2), repeat=len(pairs)):
        arcs = frozenset(
            (a, b) if way == 1 else (b, a)
            for (a, b), way in zip(pairs, choice, strict=True)
            if way
        )
        if is_acyclic(n, arcs):
            yield arcs


def skeleton(arcs):
    return {frozenset(arc) for arc in arcs}


def v_structures(arcs):
    """Pairs of unjoined parents with their common child."""
    joined = skeleton(arcs)
    return {
        (frozenset((a, b)), child)
        for a, child in arcs
        for b, other in arcs
        if child == other and a != b and frozenset((a, b)) not in joined
    }


def cpdag(n, arcs):
    """Arcs common to all equivalent graphs, and the edges that differ.

    Every orientation of the skeleton is tried.
    """
    edges = [tuple(sorted(edge)) for edge in skeleton(arcs)]
    classmates = []
    for flips in itertools.product((False, True), repeat=len(edges)):
        candidate = {
            (b, a) if flip else (a, b)
            for (a, b), flip in zip(edges, flips, strict=True)
        }
        if is_acyclic(n, candidate) and v_structures(candidate) == v_structures(arcs):
            classmates.append(candidate)
    directed = set.intersection(*classmates)
    undirected = {edge for edge in edges if not {edge, edge[::-1]} & directed}
    return directed, undirected


def structural_hamming_distance(n, one, two):
    """Pairs of variables that two graphs' classes join in different ways."""
    return sum(
        joint(a, b, *cpdag(n, one)) != joint(a, b, *cpdag(n, two))
        for a, b in itertools.combinations(range(n), 2)
    )


def joint(a, b, directed, undirected):
    """How a pair is joined: '', '--', '->' or '<-'."""
    if (a, b) in directed:
        return "->"
    if (b, a) in directed:
        return "<-"
    return "--" if (min(a, b), max(a, b)) in undirected else ""


def moral_graph(n, arcs):
    """Neighbours of each variable: joined, or parents of one child."""
    return [
        sorted(
            w
            for w in range(n)
            if w != v
            and (
                {(v, w), (w, v)} & set(arcs)
                or any((v, c) in arcs and (w, c) in arcs for c in range(n))
            )
        )
        for v in range(n)
    ]


def ancestors(n, arcs, v):
    """Variables with a directed path to v, by trying paths of every length."""
    found = {a for a, b in arcs if b == v}
    for _ in range(n):
        found |= {a for a, b in arcs if b in found}
    return sorted(found)


def descendants(n, arcs, v):
    """Variables of which v is an ancestor."""
    return [w for w in range(n) if v in ancestors(n, arcs, w)]


def markov_blanket(n, arcs, v):
    """The smallest set that separates v from all others."""
    others = [w for w in range(n) if w != v]
    for size in range(n):
        for given in itertools.combinations(others, size):
            rest = [w for w in others if w not in given]
            if all(d_separated(n, arcs, {v}, {w}, set(given)) for w in rest):
                return list(given)
    raise AssertionError


def d_separated(n, arcs, one, two, given):
    """Whether every path is blocked, each path looked at by itself.

    A path is blocked by a known variable that is no collider on it, and by a collider
    of which neither itself nor a descendant is known.
    """
    return not any(
        _is_open(n, arcs, path, given)
        for a in one
        for b in two
        for path in _paths(n, arcs, [a], b)
    )


def _paths(n, arcs, path, end):
    """Every path from where one has come to the end, no variable twice."""
    if path[-1] == end:
        yield path
        return
    for w in range(n):
        if w not in path and {(path[-1], w), (w, path[-1])} & set(arcs):
            yield from _paths(n, arcs, [*path, w], end)


def _is_open(n, arcs, path, given):
    for left, v, right in zip(path, path[1:], path[2:], strict=False):
        if (left, v) in arcs and (right, v) in arcs:
            if not given & {v, *descendants(n, arcs, v)}:
                return False
        elif v in given:
            return False
    return True


# Networks: parents, card and tables as nested lists, the first parent fastest.


def configuration(parents, card, row):
    """Number of the parent configuration of a row, the first parent fastest."""
    number, stride = 0, 1
    for parent in parents:
        number += stride * row[parent]
        stride *= card[parent]
    return number


def log_probability(parents, card, cpts, row):
    total = 0.0
    for i, members in enumerate(parents):
        p = cpts[i][configuration(members, card, row)][row[i]]
        total += math.log(p) if p > 0 else -math.inf
    return total


def joint_distribution(parents, card, cpts):
    """Probability of every row."""
    return {
        row: math.exp(log_probability(parents, card, cpts, row))
        for row in itertools.product(*map(range, card))
    }


def estimates(parents, card, rows, weights, ess):
    """Tables from counts plus ess / (configurations * states) per cell."""
    tables = []
    for i, members in enumerate(parents):
        n_configs = math.prod(card[p] for p in members)
        table = [[ess / (n_configs * card[i])] * card[i] for _ in range(n_configs)]
        for row, weight in zip(rows, weights, strict=True):
            table[configuration(members, card, row)][row[i]] += weight
        for counts in table:
            total = sum(counts)
            counts[:] = [c / total if total else 1 / card[i] for c in counts]
        tables.append(table)
    return tables


# Questions about a row with None where a cell is missing, from the full joint table.


def row_completions(parents, card, cpts, row):
    """Probability of every completion of a row, in the order of their states."""
    choices = [range(r) if c is None else [c] for r, c in zip(card, row, strict=True)]
    return {
        full: math.exp(log_probability(parents, card, cpts, full))
        for full in itertools.product(*choices)
    }


def log_completions(parents, card, cpts, row):
    """The logarithms of the same, which reach further than numbers."""
    choices = [range(r) if c is None else [c] for r, c in zip(card, row, strict=True)]
    return {
        full: log_probability(parents, card, cpts, full)
        for full in itertools.product(*choices)
    }


def log_sum(logs):
    """The logarithm of the sum of what they are logarithms of."""
    logs = list(logs)
    top = max(logs, default=-math.inf)
    if top == -math.inf:
        return top
    return top + math.log(math.fsum(math.exp(p - top) for p in logs))


def evidence_probability(parents, card, cpts, row):
    return math.fsum(row_completions(parents, card, cpts, row).values())


def best_completion(parents, card, cpts, row):
    """The most probable completion; among equals (1e-9) the first; its probability."""
    table = row_completions(parents, card, cpts, row)
    bar = max(table.values()) * (1 - 1e-9)
    return next((full, p) for full, p in table.items() if p >= bar)


def joint_posterior(parents, card, cpts, row, variables):
    """Probability of every state of some variables together, given a row."""
    table = row_completions(parents, card, cpts, row)
    total = math.fsum(table.values())
    states = itertools.product(*(range(card[v]) for v in variables))
    joint = dict.fromkeys(states, 0.0)
    for full, p in table.items():
        joint[tuple(full[v] for v in variables)] += p / total
    return joint


def hole_posterior(parents, card, cpts, row, variable):
    """Distribution of one variable, given a row."""
    return [*joint_posterior(parents, card, cpts, row, [variable]).values()]


def weighted_sample(parents, card, cpts, order, row, seed, number, sample):
    """Draw the holes of a row given their parents; weigh by what is observed.

    The counter holds the pair of the sample, the row, the variable and the stream 1.
    """
    full, weight = list(row), 1.0
    for i in order:
        distribution = cpts[i][configuration(parents[i], card, full)]
        if row[i] is not None:
            weight *= distribution[row[i]]
            continue
        bits = philox([sample // 2, number, i, 1], [seed & 0xFFFFFFFF, seed >> 32])
        bits = bits[2 * (sample % 2) :]
        draw = ((bits[0] << 32 | bits[1]) >> 11) / 2**53
        possible = [k for k, p in enumerate(distribution) if p > 0]
        total = 0.0
        for k in range(card[i]):
            total += distribution[k]
            if k in possible and (draw < total or k == possible[-1]):
                full[i] = k
                break
    return full, weight


def philox(counter, key):
    """Philox4x32-10 on integers, as published by Salmon et al. (2011)."""
    c, k = list(counter), list(key)
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [
            (b >> 32) ^ c[1] ^ k[0],
            b & 0xFFFFFFFF,
            (a >> 32) ^ c[3] ^ k[1],
            a & 0xFFFFFFFF,
        ]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


def sample_row(parents, card, cpts, order, seed, number):
    """Row ``number`` of a sample: the first state whose cumulative sum exceeds a draw.

    Rows 2 k and 2 k + 1 share counter k; each takes 53 of the 64 bits of its half.
    """
    row = [0] * len(card)
    for i in order:
        counter = [number // 2 & 0xFFFFFFFF, number // 2 >> 32, i, 0]
        bits = philox(counter, [seed & 0xFFFFFFFF, seed >> 32])[2 * (number % 2) :]
        draw = ((bits[0] << 32 | bits[1]) >> 11) / 2**53
        distribution = cpts[i][configuration(parents[i], card, row)]
        possible = [k for k, p in enumerate(distribution) if p > 0]
        total = 0.0
        for k in range(card[i]):
            total += distribution[k]
            if k in possible and (draw < total or k == possible[-1]):
                row[i] = k
                break
    return row


# --- expectation-maximisation: every completion of every row --------------------------


def expected_rows(parents, card, cpts, rows, weights):
    """Every completion of every row, and how much of the row's weight it gets."""
    completed, shares = [], []
    for row, weight in zip(rows, weights, strict=True):
        if weight == 0:
            continue
        table = row_completions(parents, card, cpts, row)
        total = math.fsum(table.values())
        completed += table
        shares += [weight * p / total for p in table.values()]
    return completed, shares


def observed_log_likelihood(parents, card, cpts, rows, weights):
    return math.fsum(
        weight * math.log(evidence_probability(parents, card, cpts, row))
        for row, weight in zip(rows, weights, strict=True)
        if weight > 0
    )


def prior_log_density(card, cpts, ess):
    """Log-density of the Dirichlet prior, its constant left out."""
    return math.fsum(
        ess / (len(table) * card[i]) * math.log(p)
        for i, table in enumerate(cpts)
        for row in table
        for p in row
    )


def em_step(parents, card, cpts, rows, weights, ess=0.0):
    """Tables from expected counts; those of a configuration without any stay."""
    completed, shares = expected_rows(parents, card, cpts, rows, weights)
    tables = []
    for i, members in enumerate(parents):
        counts = family_counts(completed, card, i, members, shares)
        pseudo_count = ess / (len(counts) * card[i])
        tables.append([])
        for old, row in zip(cpts[i], counts, strict=True):
            total = sum(row) + pseudo_count * card[i]
            new = [(n + pseudo_count) / total for n in row] if total else list(old)
            tables[i].append(new)
    return tables


def em_path(parents, card, cpts, rows, weights, ess=0.0):
    """Tables on the way of EM, and whether they were leapt to.

    After every two steps follows, in place of the second, a leap along both of them,
    where it gains (squared extrapolation, Varadhan and Roland 2008).
    """

    def value(tables):
        observed = observed_log_likelihood(parents, card, tables, rows, weights)
        return observed + (prior_log_density(card, tables, ess) if ess else 0.0)

    def step(tables):
        return em_step(parents, card, tables, rows, weights, ess)

    limit = 4.0
    yield cpts, False
    while True:
        one = step(cpts)
        yield one, False
        two = step(one)
        length = leap_length(cpts, one, two)
        leap = leap_along(cpts, one, two, min(length, limit))
        if min(length, limit) > 1 and value(leap) >= value(one):
            limit *= 4 if length >= limit else 1
            cpts = leap
        else:
            limit = max(limit / 4, 1.0) if min(length, limit) > 1 else limit
            cpts = two
        yield cpts, cpts is leap


def leap_length(zero, one, two):
    triples = [
        triple
        for tables in zip(zero, one, two, strict=True)
        for lines in zip(*tables, strict=True)
        for triple in zip(*lines, strict=True)
    ]
    step = math.fsum((b - a) ** 2 for a, b, _ in triples)
    bend = math.fsum((c - 2 * b + a) ** 2 for a, b, c in triples)
    return math.sqrt(step / bend) if bend else 0.0


def leap_along(zero, one, two, length):
    """The parabola through three points, further on, and back to distributions."""
    tables = []
    for of_family in zip(zero, one, two, strict=True):
        tables.append([])
        for lines in zip(*of_family, strict=True):
            line = [
                max(a + 2 * length * (b - a) + length**2 * (c - 2 * b + a), 0.1 * c)
                for a, b, c in zip(*lines, strict=True)
            ]
            tables[-1].append([p / sum(line) for p in line])
    return tables


def fit_by_em(parents, card, cpts, rows, weights, tol, max_points=500):
    """Parameters from which a step gains less than `tol`."""
    before = -math.inf
    path = em_path(parents, card, cpts, rows, weights)
    for tables, is_leap in itertools.islice(path, max_points):
        now = observed_log_likelihood(parents, card, tables, rows, weights)
        if now >= before:
            cpts = tables
        if now - before < tol and not is_leap:
            break
        before = now
    return cpts


def shown_cells(rows, weights, members):
    """Configurations of some variables that rows show, all of them observed."""
    return {
        tuple(row[v] for v in members)
        for row, weight in zip(rows, weights, strict=True)
        if weight > 0 and all(row[v] is not None for v in members)
    }


def expected_unsupported(rows, weights, completed, shares, members):
    """What is expected in configurations of some variables that no row shows."""
    shown = shown_cells(rows, weights, members)
    return math.fsum(
        share
        for row, share in zip(completed, shares, strict=True)
        if tuple(row[v] for v in members) not in shown
    )


def supported_cells(parents, rows, weights, completed):
    """Whether every family of each cell of a completed table has an example."""
    families = [(i, *members) for i, members in enumerate(parents)]
    shown = [shown_cells(rows, weights, family) for family in families]
    return [
        [
            all(
                tuple(row[u] for u in family) in examples
                for family, examples in zip(families, shown, strict=True)
                if v in family
            )
            for v in range(len(parents))
        ]
        for row in completed
    ]


def shrunk(card, rows, weights, child, parents, config, ess):
    """Distribution of a child where no row shows these states of all its parents.

    Given fewer of them: as many as leave a row, then those that tell most.
    """
    for size in range(len(parents) - 1, -1, -1):
        ways = []
        for kept in itertools.combinations(range(len(parents)), size):
            members = [parents[k] for k in kept]
            whole = [
                (row, weight)
                for row, weight in zip(rows, weights, strict=True)
                if weight > 0 and all(row[v] is not None for v in (child, *members))
            ]
            counts = family_counts(
                [row for row, _ in whole], card, child, members, [w for _, w in whole]
            )
            place, stride = 0, 1
            for k in kept:
                place += stride * config[k]
                stride *= card[parents[k]]
            if sum(counts[place]) > 0 or size == 0:
                ways.append((-round(information(counts), 12), kept, counts, place))
        if ways:
            _, _, counts, place = min(ways, key=lambda way: way[:2])
            line = [n + ess / (len(counts) * card[child]) for n in counts[place]]
            return [n / sum(line) for n in line]
    raise AssertionError


def shrink_all(parents, card, cpts, rows, weights, ess):
    """Tables in which configurations that no row shows are given fewer parents."""
    seen = [row for row, w in zip(rows, weights, strict=True) if w > 0]
    never = [all(row[v] is None for row in seen) for v in range(len(card))]
    tables = [[list(line) for line in table] for table in cpts]
    for child, members in enumerate(parents):
        family = (child, *members)
        misses = any(row[v] is None for row in seen for v in family)
        if not misses or any(never[v] for v in family):
            continue
        shown = {cell[1:] for cell in shown_cells(rows, weights, family)}
        ranges = [range(card[p]) for p in reversed(members)]
        for place, states in enumerate(itertools.product(*ranges)):
            config = states[::-1]
            if config not in shown:
                tables[child][place] = shrunk(
                    card, rows, weights, child, members, config, ess
                )
    return tables


def information(counts):
    """Mutual information of the two sides of a table."""
    total = sum(map(sum, counts))
    if total == 0:
        return 0.0
    sides = [sum(column) for column in zip(*counts, strict=True)]
    return math.fsum(
        n / total * math.log(n * total / (sum(row) * side))
        for row in counts
        for n, side in zip(row, sides, strict=True)
        if n > 0
    )


def observed_score(parents, card, cpts, rows, weights, kind, ess, support=0.0):
    """Score of expected counts, corrected by Cheeseman and Stutz."""
    completed, shares = expected_rows(parents, card, cpts, rows, weights)
    likelihood = score = 0.0
    for i, members in enumerate(parents):
        score += family_score(completed, card, i, members, kind, ess, shares)
        score -= support * expected_unsupported(
            rows, weights, completed, shares, (i, *members)
        )
        counts = family_counts(completed, card, i, members, shares)
        likelihood += sum(
            n * math.log(p)
            for row, chances in zip(counts, cpts[i], strict=True)
            for n, p in zip(row, chances, strict=True)
            if n > 0
        )
    observed = observed_log_likelihood(parents, card, cpts, rows, weights)
    return score - likelihood + observed


def structural_em(rows, card, weights, max_parents, kind, ess, shares, tol, support):
    """Observed-data scores of the structures on the way from the empty graph."""
    parents, cpts, reached = [()] * len(card), [[list(one)] for one in shares], []
    while True:
        cpts = fit_by_em(parents, card, cpts, rows, weights, tol)
        found = observed_score(parents, card, cpts, rows, weights, kind, ess, support)
        if reached and found <= reached[-1] + 1e-6:
            return [*reached, found]
        reached.append(found)
        counted = expected_rows(parents, card, cpts, rows, weights)
        lack = functools.partial(expected_unsupported, rows, weights, *counted)
        totals = total_scores(
            card, max_parents, kind, ess, *counted, lack=lack, support=support
        )
        best = max(totals, key=totals.get)
        if totals[best] <= totals[tuple(parents)] + 1e-6:
            return reached
        parents = best
        cpts = estimates(parents, card, *counted, 0.0)
        if support:
            cpts = shrink_all(parents, card, cpts, rows, weights, ess)


def total_scores(
    card, max_parents, kind, ess, rows, weights, *, lack=lambda _: 0.0, support=0.0
):
    """{parents of each variable: score} for every graph; what families lack costs."""
    n, known, totals = len(card), {}, {}
    for arcs in all_dags(n):
        parents = tuple(tuple(sorted(a for a, b in arcs if b == i)) for i in range(n))
        if max(map(len, parents)) > max_parents:
            continue
        for family in enumerate(parents):
            if family not in known:
                plain = family_score(rows, card, *family, kind, ess, weights)
                known[family] = plain - support * lack((family[0], *family[1]))
        totals[parents] = sum(known[family] for family in enumerate(parents))
    return totals


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


def auto_cuts(numbers):
    """Upper ends of the intervals that numbers are cut into, less the last.

    k grows with the cube root of a tenth of the numbers, from 2 to 8. A number that
    more than one in k are stands alone; each run of others between two such numbers
    has one interval, and those left over go one by one to the run with most numbers
    per interval (the first of equals), as long as it has distinct numbers for them.
    """
    n = len(numbers)
    k = min(max(round((n / 10) ** (1 / 3)), 2), 8)
    runs, alone = [[]], 0
    for value in sorted(set(numbers)):
        if k * numbers.count(value) > n:
            runs += [[value], []]
            alone += 1
        else:
            runs[-1].append(value)
    runs = [run for run in runs if run]
    rows = [sorted(x for x in numbers if x in run) for run in runs]
    parts = [1] * len(runs)
    is_alone = [len(set(r)) == 1 and k * len(r) > n for r in rows]
    for _ in range(k - alone - (len(runs) - alone)):
        open_runs = [
            i
            for i, run in enumerate(runs)
            if not is_alone[i] and parts[i] < len(set(run))
        ]
        if open_runs:
            parts[max(open_runs, key=lambda i: (len(rows[i]) / parts[i], -i))] += 1
    ends = set()
    for run, n_parts in zip(rows, parts, strict=True):
        for j in range(1, n_parts + 1):
            # The least number that at least j of n_parts shares are not above.
            ends.add(
                next(
                    x for x in run if n_parts * sum(y <= x for y in run) >= j * len(run)
                )
            )
    return sorted(ends - {max(numbers)})


def numbers_are_states(numbers, most=20):
    """Whether numbers are few enough to be states as they are."""
    n, d = len(numbers), len(set(numbers))
    return d <= most and (d <= 5 or n >= 10 * d)


def reason_aside(name_words, cells):
    """Why a column of numbers or text (None: missing) is no variable; None if it is."""
    seen = [cell for cell in cells if cell is not None]
    n, d = len(seen), len(set(seen))
    if n == 0:
        return "no value"
    if d == 1:
        return "constant"
    if isinstance(seen[0], str):
        if d == n and n >= 20:
            return "identifier"
        if not (d > 20 and 3 * d > n) and d <= 254:
            return None
        is_word = bool(set(name_words) & {"id", "key"}) or not any(
            character.isspace() for cell in seen for character in cell
        )
        return "identifier with repeats" if d >= 0.9 * n and is_word else "free text"
    if n < 20 or 2 * d <= n or any(x != int(x) for x in seen):
        return None
    says_so = bool({"id", "key", "number"} & set(name_words))
    ascends = seen == sorted(seen) and d == n
    descends = seen == sorted(seen, reverse=True) and d == n
    follows = sorted(seen) == list(range(int(min(seen)), int(min(seen)) + n))
    return "identifier" if says_so or ascends or descends or follows else None


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


# --- candidate parent sets and structure ----------------------------------------------


def candidate_sets(n, child, limit, forbidden=(), required=()):
    """Every parent set of a child within the rules, as ascending tuples."""
    others = [v for v in range(n) if v != child and v not in forbidden]
    return [
        members
        for size in range(limit + 1)
        for members in itertools.combinations(others, size)
        if set(required) <= set(members)
    ]


def worthwhile(scores, margin):
    """Sets that beat each proper subset by more than a margin; scores by set."""
    return {
        members
        for members, score in scores.items()
        if all(
            score > other + margin
            for subset, other in scores.items()
            if set(subset) < set(members)
        )
    }


def acyclic_choices(lists):
    """Every choice of one (score, parents) pair per variable without a cycle."""
    n = len(lists)
    for choice in itertools.product(*lists):
        arcs = {
            (p, child) for child, (_, members) in enumerate(choice) for p in members
        }
        if is_acyclic(n, arcs):
            yield choice


def best_through(lists):
    """For each variable and pair: the best score of an acyclic choice that uses it."""
    best = [[-math.inf] * len(pairs) for pairs in lists]
    for choice in acyclic_choices(lists):
        total = sum(score for score, _ in choice)
        for v, pair in enumerate(choice):
            k = lists[v].index(pair)
            best[v][k] = max(best[v][k], total)
    return best


def best_dag_score(n, family, limit):
    """Score of the best DAG over all DAGs; family(child, parents) is a score."""
    best = -math.inf
    for arcs in all_dags(n):
        parents = [tuple(sorted(a for a, b in arcs if b == v)) for v in range(n)]
        if max(map(len, parents), default=0) <= limit:
            best = max(best, sum(family(v, parents[v]) for v in range(n)))
    return best


def dag_posterior(n, family, limit):
    """Weigh all DAGs by exp(score): log of the sum, and the share of each."""
    scores = {}
    for arcs in all_dags(n):
        parents = [tuple(sorted(a for a, b in arcs if b == v)) for v in range(n)]
        if max(map(len, parents), default=0) <= limit:
            scores[arcs] = sum(family(v, parents[v]) for v in range(n))
    most = max(scores.values())
    total = sum(math.exp(score - most) for score in scores.values())
    shares = {arcs: math.exp(score - most) / total for arcs, score in scores.items()}
    return most + math.log(total), shares


def arc_probabilities(n, shares):
    """Probability of each arc, and of a directed path between each two variables."""
    arcs = [[0.0] * n for _ in range(n)]
    paths = [[0.0] * n for _ in range(n)]
    for dag, share in shares.items():
        for a, b in dag:
            arcs[a][b] += share
        for a in range(n):
            for b in set(descendants(n, dag, a)) - {a}:
                paths[a][b] += share
    return arcs, paths


# --- several completed tables ---------------------------------------------------------


def rubin(estimates, variances, complete=math.inf):
    """Rubin (1987) with the degrees of freedom of Barnard and Rubin (1999)."""
    m = len(estimates)
    mean = sum(estimates) / m
    within = sum(variances) / m
    between = sum((q - mean) ** 2 for q in estimates) / (m - 1)
    total = within + between + between / m
    r = (between + between / m) / within
    old = (m - 1) * (1 + 1 / r) ** 2
    if complete == math.inf:
        df = old
    else:
        gamma = (between + between / m) / total
        seen = complete * (complete + 1) / (complete + 3) * (1 - gamma)
        df = 1 / (1 / old + 1 / seen)
    fmi = (r + 2 / (df + 3)) / (r + 1)
    return {"estimate": mean, "se": math.sqrt(total), "df": df, "fmi": fmi}


def t_above(t, df, n_steps=20_000):
    """Probability that Student's t exceeds t, by Simpson's rule from 0 to t."""
    front = math.exp(math.lgamma((df + 1) / 2) - math.lgamma(df / 2))
    front /= math.sqrt(df * math.pi)
    step = t / n_steps
    heights = [
        (1 + (k * step) ** 2 / df) ** (-(df + 1) / 2) for k in range(n_steps + 1)
    ]
    inner = 4 * sum(heights[1:-1:2]) + 2 * sum(heights[2:-1:2])
    return 0.5 - front * step / 3 * (heights[0] + inner + heights[-1])


def completion_posterior(rows, card, ess, prior):
    """Share of each completion of a table: all DAGs, parameters integrated out."""
    n = len(card)
    logs = {}
    for completed in completions(rows, card):
        score = lambda v, ps, table=completed: (  # noqa: E731
            family_score(table, card, v, list(ps), "bdeu", ess) + prior(len(ps))
        )
        total, _ = dag_posterior(n, score, n - 1)
        logs[tuple(map(tuple, completed))] = total
    most = max(logs.values())
    total = sum(math.exp(x - most) for x in logs.values())
    return {table: math.exp(x - most) / total for table, x in logs.items()}


# --- incomplete data: all structures with all completions -----------------------------
#
# A table is a list of rows of codes, None where a cell is missing. `near` is a pair of
# a completed table and the number of cells that a family may hold otherwise.


def missing_cells(rows):
    """(row, variable) of every missing cell, by variable, then by row."""
    n_vars = len(rows[0]) if rows else 0
    return [
        (u, i) for i in range(n_vars) for u in range(len(rows)) if rows[u][i] is None
    ]


def completions(rows, card):
    """Every way to fill in the table."""
    cells = missing_cells(rows)
    for states in itertools.product(*(range(card[i]) for _, i in cells)):
        completed = [list(row) for row in rows]
        for (u, i), state in zip(cells, states, strict=True):
            completed[u][i] = state
        yield completed


def subsets_up_to(items, largest):
    for size in range(min(largest, len(items)) + 1):
        yield from itertools.combinations(items, size)


def changes_inside(rows, completed, base, family):
    """How many missing cells of a family's variables two completions fill otherwise."""
    return sum(
        completed[u][i] != base[u][i] for u, i in missing_cells(rows) if i in family
    )


def best_dag(n_vars, families):
    """Score and parents of a best DAG: some variable is last, the rest comes before.

    families[child] is {parents (frozenset): score}.
    """
    best = {frozenset(): (0.0, {})}
    for size in range(1, n_vars + 1):
        for chosen in map(frozenset, itertools.combinations(range(n_vars), size)):
            best[chosen] = (-math.inf, {})
            for last in chosen:
                before, graph = best[chosen - {last}]
                for parents, score in families[last].items():
                    if parents <= chosen - {last} and before + score > best[chosen][0]:
                        best[chosen] = (before + score, {**graph, last: parents})
    return best[frozenset(range(n_vars))]


def best_pair(
    rows,
    card,
    max_parents,
    kind,
    ess=1.0,
    *,
    near=None,
    allowed=None,
    penalty=0.0,
    weights=None,
    support=0.0,
    prior=None,
    choices=None,
    completed_tables=None,
    terms=None,
):
    """(score, parents, completed) of a best structure with completion.

    Families are scored once for each completion of their own cells. `allowed` tells
    whether a child may have a parent set, `choices` what the prior counts of a child.
    `terms[row, variable][state]` is added for each row of a missing cell.
    """
    n_vars, known, best = len(card), {}, (-math.inf, None, None)
    cells = missing_cells(rows)
    for completed in completed_tables or completions(rows, card):
        families = []
        for child in range(n_vars):
            others = [v for v in range(n_vars) if v != child]
            mine = {}
            for parents in subsets_up_to(others, max_parents):
                family = {child, *parents}
                if allowed is not None and not allowed(child, parents):
                    continue
                if (
                    near is not None
                    and changes_inside(rows, completed, near[0], family) > near[1]
                ):
                    continue
                states = tuple(completed[u][i] for u, i in cells if i in family)
                key = child, parents, states
                if key not in known:
                    known[key] = supported_score(
                        *(rows, completed, card, child, parents, kind, ess),
                        *(weights, penalty, support, prior),
                        None if choices is None else choices[child],
                    )
                mine[frozenset(parents)] = known[key]
            families.append(mine)
        score, parents = best_dag(n_vars, families)
        score += worth(completed, terms, weights)
        if score > best[0]:
            best = (score, parents, completed)
    return best


def worth(completed, terms, weights=None, variables=None):
    """The terms of a completed table, of some variables or all, over its rows."""
    return sum(
        (1 if weights is None else weights[u]) * of_states[completed[u][i]]
        for (u, i), of_states in (terms or {}).items()
        if variables is None or i in variables
    )


def log_indicators(rows, card, completed, whys):
    """log P(what is missing | the completed table); whys = {variable: (parents, cpt)}.

    The first parent varies fastest among the rows of a cpt (observed, missing).
    """
    total = 0.0
    for variable, (parents, cpt) in whys.items():
        for row, filled in zip(rows, completed, strict=True):
            config = configuration(parents, card, filled)
            total += math.log(cpt[config][int(row[variable] is None)])
    return total


def completions_within(rows, card, base, most):
    """The completions that differ from `base` in at most `most` cells."""
    for completed in completions(rows, card):
        if changes_inside(rows, completed, base, set(range(len(card)))) <= most:
            yield completed


def reduction(
    rows, card, max_parents, kind, ess=1.0, *, near=None, support=0.0, prior=None
):
    """The paper's transformation: {variable: {parents: score}}, lambda left as None.

    Original variables are 0 .. m - 1; the artificial variable of state j of cell (u, i)
    is the triple (u, i, j). States and variables count from 0.
    """
    originals, cells = set(range(len(card))), missing_cells(rows)
    candidates = {child: {} for child in originals}
    for completed in completions(rows, card):
        for child in originals:
            for parents in subsets_up_to(sorted(originals - {child}), max_parents):
                family = {child, *parents}
                if (
                    near is not None
                    and changes_inside(rows, completed, near[0], family) > near[1]
                ):
                    continue
                which = {(u, i, completed[u][i]) for u, i in cells if i in family}
                score = supported_score(
                    *(rows, completed, card, child, parents, kind, ess),
                    support=support,
                    prior=prior,
                )
                candidates[child][frozenset({*parents, *which})] = score
    for u, i in cells:
        for j in range(card[i]):
            following = (u, i, (j + 1) % card[i])
            candidates[u, i, j] = {
                frozenset({*originals, following}): 0.0,
                frozenset(): None,
            }
    return candidates


# Structure: lists[i] holds the candidates (score, parents) of variable i.


def arcs_of(chosen):
    """Arcs of a choice of one parent set per variable."""
    return {(p, i) for i, parents in enumerate(chosen) for p in parents}


def best_total(lists):
    """Highest total score of an acyclic choice, trying all; None when there is none."""
    finite = [[f for f in row if f[0] > -math.inf] for row in lists]
    totals = [
        math.fsum(score for score, _ in choice)
        for choice in itertools.product(*finite)
        if is_acyclic(len(lists), arcs_of([parents for _, parents in choice]))
    ]
    return max(totals, default=None)


def best_total_by_subsets(lists):
    """The same by the best last variable of every subset, for up to ten variables."""
    n = len(lists)
    best = {frozenset(): 0.0}
    for size in range(1, n + 1):
        for chosen in map(frozenset, itertools.combinations(range(n), size)):
            best[chosen] = max(
                best[chosen - {last}] + score
                for last in chosen
                for score, parents in lists[last]
                if set(parents) <= chosen - {last}
            )
    return best[frozenset(range(n))]


def cluster_violation(lists, weights, cluster):
    """By how much the candidates that miss a cluster weigh less than 1."""
    return 1 - sum(
        weight
        for i in cluster
        for (_, parents), weight in zip(lists[i], weights[i], strict=True)
        if not set(parents) & set(cluster)
    )


def worst_violation(lists, weights):
    """Largest violation over all clusters of two or more variables."""
    n = len(lists)
    return max(
        cluster_violation(lists, weights, cluster)
        for size in range(2, n + 1)
        for cluster in itertools.combinations(range(n), size)
    )


# --- Laplacian support vector machine -------------------------------------------------


def squared_distance(x, z):
    return sum((a - b) ** 2 for a, b in zip(x, z, strict=True))


def neighbour_graph(points, n_neighbors):
    """Weights 0 or 1 between rows; neighbours are the nearest distinct points."""
    distinct = sorted(set(points))

    def is_near(x, z):
        if x == z:
            return False
        others = sorted(squared_distance(x, other) for other in distinct if other != x)
        last = others[min(n_neighbors, len(others)) - 1]
        return squared_distance(x, z) <= last * (1 + 1e-12)

    return [
        [1.0 if is_near(x, z) or is_near(z, x) else 0.0 for z in points] for x in points
    ]


def rbf_kernel(points, gamma):
    return [[math.exp(-gamma * squared_distance(x, z)) for z in points] for x in points]


def linear_kernel(points):
    return [
        [sum(a * b for a, b in zip(x, z, strict=True)) for z in points] for x in points
    ]


def laplacian_svm_objective(
    alpha, b, gram, weights, labels, *, gamma_a, gamma_i, normalized=False
):
    """The objective of Belkin et al. (2006) with a squared hinge, sum by sum.

    Labels are -1, 1, or None for an unlabelled row.
    """
    n = len(gram)
    f = [sum(gram[i][j] * alpha[j] for j in range(n)) for i in range(n)]
    labelled = [i for i in range(n) if labels[i] is not None]
    loss = sum(max(0.0, 1.0 - labels[i] * (f[i] + b)) ** 2 for i in labelled)
    norm = sum(alpha[i] * f[i] for i in range(n))
    degree = [sum(row) for row in weights]
    g = [
        f[i] / math.sqrt(degree[i]) if normalized and degree[i] else f[i]
        for i in range(n)
    ]
    rough = sum(
        weights[i][j] * (g[i] - g[j]) ** 2 / 2 for i in range(n) for j in range(n)
    )
    return loss / len(labelled) + gamma_a * norm + gamma_i * rough / n**2


def inclusion_threshold(probabilities):
    """The L1 distance of the distribution function to each level, tried one by one.

    Levels are shares of the probabilities; ties go to the lower one. The threshold is
    the lowest probability at which the function reaches the best level.
    """
    n = len(probabilities)
    knots = sorted({0.0, 1.0, *probabilities})

    def share(x):
        return sum(1 for p in probabilities if p <= x) / n

    def distance(level):
        return sum(
            (right - left) * abs(share(left) - level)
            for left, right in itertools.pairwise(knots)
        )

    best = min(range(n + 1), key=lambda k: (round(distance(k / n), 12), k)) / n
    return min((x for x in knots if share(x) >= best - 1e-12), default=0.0)


def arc_shares(structures, n_vars):
    """{(parent, child): share of the structures, lists of parents, with that arc}."""
    return {
        (i, j): sum(1 for parents in structures if i in parents[j]) / len(structures)
        for i in range(n_vars)
        for j in range(n_vars)
    }


def stacking_log_likelihood(probabilities, weights, shares, prior):
    """Of the truth of all cells under a weighted mean, with `prior` cells a kind."""
    total = sum(prior * math.log(share) for share in shares)
    for cell, weight in enumerate(weights):
        p = sum(s * kind[cell] for s, kind in zip(shares, probabilities, strict=True))
        total += weight * math.log(p)
    return total


def posterior_with_indicators(parents, card, cpts, row, variable, whys):
    """Distribution of a variable, given a row and which of its cells are missing.

    ``whys[v]`` is (parents, probabilities of missing per configuration).
    """
    weights = [0.0] * card[variable]
    for full, p in row_completions(parents, card, cpts, row).items():
        for v, (members, missing) in whys.items():
            chance = missing[configuration(members, card, full)]
            p *= chance if row[v] is None else 1 - chance
        weights[full[variable]] += p
    total = math.fsum(weights)
    return [w / total for w in weights]


def mechanism_evidence(counts, spread, step=0.04, most=7.0):
    """Log-odds of missing per configuration, against one for all: by sums over a grid.

    ``counts`` are pairs (observed, missing). The mean log-odds are uniform, those of
    each configuration normal around it; their joint density by two nested sums.
    """

    def likelihood(odds, seen, hidden):
        return hidden * odds - (seen + hidden) * math.log1p(math.exp(odds))

    grid = [k * step for k in range(-round(most / step), round(most / step) + 1)]
    tables = [
        [
            math.exp(likelihood(odds, seen, hidden) + _peak(seen, hidden))
            for odds in grid
        ]
        for seen, hidden in counts
    ]
    norm = step / (spread * math.sqrt(2 * math.pi))
    apart = one = 0.0
    all_seen, all_hidden = (sum(c[k] for c in counts) for k in (0, 1))
    for mean in grid:
        product = 1.0
        for table in tables:
            product *= norm * sum(
                value * math.exp(-((odds - mean) ** 2) / (2 * spread**2))
                for odds, value in zip(grid, table, strict=True)
            )
        apart += product
        one += math.exp(
            likelihood(mean, all_seen, all_hidden) + _peak(all_seen, all_hidden)
        )
    shift = _peak(all_seen, all_hidden) - sum(_peak(*c) for c in counts)
    return math.log(apart) - math.log(one) + shift


def _peak(seen, hidden):
    """Less the largest log-likelihood, so that nothing underflows."""
    total = seen + hidden
    return -sum(n * math.log(n / total) for n in (seen, hidden) if n)


def mixture_by_grid(likelihood, counts, n_steps=200):
    """Log-likelihood gain of own distributions where a variable is missing; 2 states.

    Against one distribution for all rows, each found by trying shares.
    """

    def of(share, rows):
        return sum(math.log(r[0] * (1 - share) + r[1] * share) for r in rows)

    def seen(share):
        return counts[0] * math.log(1 - share) + counts[1] * math.log(share)

    shares = [(k + 0.5) / n_steps for k in range(n_steps)]
    apart = max(of(s, likelihood) for s in shares) + max(map(seen, shares))
    return apart - max(of(s, likelihood) + seen(s) for s in shares)


def g_of_indicator(hidden, states):
    """G of a 2 x r table: twice the sum of observed times log(observed / expected)."""
    n, found = len(hidden), 0.0
    for h in set(hidden):
        for s in set(states):
            both = sum(a == h and b == s for a, b in zip(hidden, states, strict=True))
            expected = hidden.count(h) * states.count(s) / n
            found += 2 * both * math.log(both / expected) if both else 0.0
    return found


def chi_square_tail(x, freedom, step=1e-3, most=400.0):
    """Probability of more than x: the density summed, by midpoints, x > 0."""
    half, found, at = freedom / 2, 0.0, x + step / 2
    while at < most:
        log = (half - 1) * math.log(at) - at / 2 - half * math.log(2)
        found += step * math.exp(log - math.lgamma(half))
        at += step
    return found


def tilted_share(posteriors, n_of_state, n_rows, state, tilt):
    """Share of a state, the odds of each missing cell to hold it times exp(tilt)."""
    found = n_of_state
    for p in posteriors:
        odds = math.exp(tilt) * p[state]
        found += odds / (odds + sum(p) - p[state])
    return found / n_rows
