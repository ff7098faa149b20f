"""Made-up tables of the shapes that people bring: mixed columns, missing cells.

Nothing in them is real. Numbers of rows, columns and labels, how skewed the shares are,
how heavy single values weigh and how much is missing follow public tables of the kind
that each function names. Columns depend on each other through a few hidden traits.
"""

import numpy as np

MISSING = "?"


def make_screening(seed=0):
    """961 rows, 6 columns: ages, grades and a diagnosis, as of mammographic masses."""
    rng = np.random.default_rng(seed)
    n_rows = 961
    trait = rng.normal(size=n_rows)
    age = np.clip(np.rint(55 + 14 * _mix(rng, trait, 0.6)), 18, 96).astype(int)
    columns = {
        "grade": _ranked(rng, trait, 0.7, ["2", "3", "4", "5", "6"], 0.6),
        "age": age.astype(str),
        "shape": _ranked(rng, trait, 0.7, ["1", "2", "3", "4"], 0.9),
        "margin": _ranked(rng, trait, 0.7, ["1", "2", "3", "4", "5"], 0.8),
        "density": _ranked(rng, trait, 0.1, ["1", "2", "3", "4"], 0.3),
        "severity": np.where(_mix(rng, trait, 0.8) > 0.1, "1", "0"),
    }
    shares = (0.002, 0.005, 0.032, 0.05, 0.079, 0.0)
    for name, share in zip(columns, shares, strict=True):
        columns[name] = _hide(rng, columns[name], share)
    return columns


def make_census(seed=0, n_rows=32_561):
    """32,561 rows, 15 columns: labels and numbers with many zeros, as of a census."""
    rng = np.random.default_rng(seed)
    age_trait, means, family = (rng.normal(size=n_rows) for _ in range(3))
    schooling = _ranked_codes(rng, means, 0.7, 16, 0.55)
    sex = np.where(_mix(rng, family, 0.6) > -0.4, "Male", "Female")
    marital = _ranked(rng, family + 0.6 * age_trait, 0.8, _labels("marital", 7), 0.9)
    work = _ranked(rng, means, 0.3, _labels("work", 8), 1.2)
    job = _ranked(rng, means + 0.3 * family, 0.8, _labels("job", 14), 0.15)
    gain = np.where(_mix(rng, means, 0.6) > 1.37, rng.integers(1, 120, n_rows) * 137, 0)
    loss = np.where(
        _mix(rng, means, 0.5) > 1.68, rng.integers(1, 93, n_rows) * 41 + 155, 0
    )
    hours = np.rint(40 + 14 * _mix(rng, means + family, 0.5)).clip(1, 99).astype(int)
    hours[rng.random(n_rows) < 0.45] = 40
    rich = _mix(rng, means + 0.5 * family + 0.4 * age_trait, 0.8) > 0.72
    # Whoever tells no kind of work tells no job either, with few exceptions.
    untold = _mix(rng, age_trait, -0.3) > 1.59
    jobless = untold | (rng.random(n_rows) < 0.0002)
    age = np.rint(38 + 13 * age_trait).clip(17, 90).astype(int)
    return {
        "age": age.astype(str),
        "work": np.where(untold, MISSING, work),
        "weight": np.exp(rng.normal(12.1, 0.5, n_rows)).astype(int).astype(str),
        "schooling": np.array(_labels("school", 16))[schooling],
        "years": (schooling + 1).astype(str),
        "marital": marital,
        "job": np.where(jobless, MISSING, job),
        "relation": _ranked(rng, family + 0.3 * age_trait, 0.9, _labels("kin", 6), 0.4),
        "origin": _ranked(rng, means, 0.15, _labels("origin", 5), 1.9),
        "sex": sex,
        "gain": gain.astype(str),
        "loss": loss.astype(str),
        "hours": hours.astype(str),
        "country": _hide(
            rng, _ranked(rng, means, 0.2, _labels("country", 41), 2.3), 0.018
        ),
        "income": np.where(rich, ">50K", "<=50K"),
    }


def make_loans(seed=0, n_rows=10_000):
    """10,000 rows, 54 columns: amounts, counts, grades and dates, as of lenders."""
    rng = np.random.default_rng(seed)
    wealth, debt, trouble = (rng.normal(size=n_rows) for _ in range(3))
    income = np.exp(11.1 + 0.55 * _mix(rng, wealth, 0.9))
    amount = (np.exp(9.5 + 0.6 * _mix(rng, wealth, 0.5)) // 25 * 25).clip(1000, 40000)
    grade = _ranked_codes(rng, trouble + 0.4 * debt - 0.3 * wealth, 0.9, 32, 0.05)
    rate = np.round(5.3 + 0.8 * grade + 0.3 * rng.normal(size=n_rows), 2)
    term = np.where(_mix(rng, debt, 0.3) > 0.5, 60, 36)
    monthly = rate / 1200
    instalment = np.round(amount * monthly / (1 - (1 + monthly) ** -term), 2)
    paid = np.round(instalment * rng.integers(0, 8, n_rows), 2)
    joint = rng.random(n_rows) < 0.15
    late = _mix(rng, trouble, 0.7) > 0.17
    columns = {
        "state": _ranked(rng, wealth, 0.1, _labels("state", 50), 0.5),
        "seniority": _hide(rng, rng.integers(0, 11, n_rows).astype(str), 0.08),
        "home": _ranked(rng, wealth, 0.6, _labels("home", 3), 0.3),
        "income": np.rint(income).astype(int).astype(str),
        "verified": _ranked(rng, debt, 0.2, _labels("verified", 3), 0.2),
        "burden": _hide(rng, _money(19 + 9 * _mix(rng, debt, 0.8)), 0.002),
        "joint_income": _only(joint, _money(income * rng.uniform(1.2, 2.2, n_rows))),
        "joint_verified": _only(
            joint, _ranked(rng, debt, 0.2, _labels("verified", 3), 0.2)
        ),
        "joint_burden": _only(joint, _money(18 + 8 * _mix(rng, debt, 0.7))),
        "months_since_late": _only(late, rng.integers(1, 118, n_rows).astype(str)),
        "months_since_default": _only(
            late & (rng.random(n_rows) < 0.5), rng.integers(2, 128, n_rows).astype(str)
        ),
        "months_since_inquiry": _hide(
            rng, rng.integers(0, 24, n_rows).astype(str), 0.13
        ),
        "amount": amount.astype(int).astype(str),
        "term": term.astype(str),
        "rate": rate.astype(str),
        "instalment": instalment.astype(str),
        "grade": np.array(list("ABCDEFG"))[np.minimum(grade // 5, 6)],
        "subgrade": np.array(_labels("grade", 32))[grade],
        "month": _ranked(rng, wealth, 0.0, ["Jan-2018", "Feb-2018", "Mar-2018"], 0.1),
        "status": _ranked(rng, trouble, 0.3, _labels("status", 6), 2.2),
        "listing": _ranked(rng, wealth, 0.2, ["whole", "fractional"], 0.8),
        "payout": _ranked(rng, wealth, 0.1, ["cash", "direct"], 1.2),
        "application": np.where(joint, "joint", "individual"),
        "purpose": _ranked(rng, debt, 0.4, _labels("purpose", 12), 0.9),
        "balance": np.round(np.maximum(amount - 0.8 * paid, 0), 2).astype(str),
        "paid": paid.astype(str),
        "paid_interest": np.round(paid * monthly * 12, 2).astype(str),
    }
    columns |= _counts(rng, trouble, debt)
    columns |= _sums(rng, wealth, debt)
    return columns


def write_text(columns, path, *, delimiter=", ", header=True):
    """Write a table as delimited text."""
    lines = [delimiter.join(columns)] if header else []
    lines += map(delimiter.join, zip(*columns.values(), strict=True))
    path.write_text("\n".join(lines) + "\n")


def _counts(rng, trouble, debt):
    """Thirteen counts, most of them nearly always zero."""
    found = {}
    for number in range(13):
        trait = trouble if number % 2 else debt
        level = np.exp(-1.5 + 0.25 * number + 0.8 * _mix(rng, trait, 0.7))
        found[f"count{number}"] = rng.poisson(level).astype(str)
    return found


def _sums(rng, wealth, debt):
    """Fourteen amounts, some of them zero for a fifth of the rows."""
    found = {}
    for number in range(14):
        trait = wealth if number % 2 else debt
        sums = np.exp(9 + 0.2 * number + _mix(rng, trait, 0.75))
        sums[rng.random(len(sums)) < 0.05 * (number % 5)] = 0
        found[f"sum{number}"] = sums.astype(int).astype(str)
    return found


def _labels(name, count):
    return [f"{name}-{number}" for number in range(count)]


def _mix(rng, trait, weight):
    """A standard normal that a trait explains to some part."""
    trait = (trait - trait.mean()) / trait.std()
    return weight * trait + np.sqrt(1 - weight**2) * rng.normal(size=len(trait))


def _ranked_codes(rng, trait, weight, n_states, skew):
    """States by rank of a trait with noise; their shares fall by exp(-skew)."""
    shares = np.exp(-skew * np.arange(n_states)) + 0.01 / n_states
    # The frequent ones lie in the middle of the trait, as they mostly do.
    order = np.argsort(np.abs(np.arange(n_states) - n_states // 2), kind="stable")
    spread = np.empty(n_states)
    spread[order] = shares / shares.sum()
    cuts = np.cumsum(spread)[:-1]
    noisy = _mix(rng, trait, weight)
    rank = np.argsort(np.argsort(noisy)) / len(noisy)
    return np.searchsorted(cuts, rank, side="right")


def _ranked(rng, trait, weight, labels, skew):
    return np.array(labels)[_ranked_codes(rng, trait, weight, len(labels), skew)]


def _money(numbers):
    return np.round(np.maximum(numbers, 0), 2).astype(str)


def _hide(rng, column, share):
    return np.where(rng.random(len(column)) < share, MISSING, column)


def _only(rows, column):
    return np.where(rows, column, MISSING)
