"""Family scores: all families with up to 3 parents of ALARM, against peers and NumPy.

The peers score a fixed random sample of the same families one by one, through their
public interfaces; their rate is families per second. The NumPy version is a careful
one: mixed-radix codes, ``bincount``, tabulated log-gamma, parent codes reused.
"""

import numpy as np
from scipy.special import gammaln

from bayesmend import _core
from bayesmend.score import Families, score_families
from benchmarks.inputs import load_sample
from benchmarks.table import print_table
from benchmarks.timing import best_time

MAX_PARENTS = 3
N_PEER_FAMILIES = 5000


def parents_of(batch, family):
    return batch.parents[batch.first_parent[family] : batch.first_parent[family + 1]]


def numpy_scores(codes, card, batch, chosen, ess=1.0):
    """BDeu with bincount; one table of log-gamma values per pseudo-count."""
    wide = [codes[:, v].astype(np.int64) for v in range(codes.shape[1])]
    counts_up_to = np.arange(len(codes) + 1)
    tables, scores, last = {}, np.empty(len(chosen)), None

    def total(counts, pseudo):
        if pseudo not in tables:
            tables[pseudo] = gammaln(counts_up_to + pseudo) - gammaln(pseudo)
        return tables[pseudo][counts].sum()

    for number, family in enumerate(chosen):
        child, parents = int(batch.child[family]), parents_of(batch, family)
        if last is None or not np.array_equal(parents, last):
            last, config, n_configs = parents, 0, 1
            for p in parents:
                config, n_configs = config * card[p] + wide[p], n_configs * int(card[p])
            if len(parents):
                given = total(np.bincount(config, minlength=1), ess / n_configs)
            else:
                given = total(np.array([len(codes)]), ess)
        cells = np.bincount(config * int(card[child]) + wide[child])
        joint = total(cells, ess / (n_configs * int(card[child])))
        scores[number] = joint - given
    return scores


def pgmpy_scores(data, batch, chosen):
    try:
        from pgmpy.structure_score import BDeu
    except ImportError:
        from pgmpy.estimators import BDeu
    rule = BDeu(data.to_table(), equivalent_sample_size=1)
    names = data.names
    return np.array(
        [
            rule.local_score(
                names[batch.child[f]], tuple(names[p] for p in parents_of(batch, f))
            )
            for f in chosen
        ]
    )


def pyagrum_scores(data, batch, chosen):
    import pyagrum

    learner = pyagrum.BNLearner(data.to_table())
    learner.useScoreBDeu()
    names = data.names
    # Its logarithms are to base 2, and its prior weighs parents a little differently.
    return np.log(2) * np.array(
        [
            learner.score(
                names[batch.child[f]], [names[p] for p in parents_of(batch, f)]
            )
            for f in chosen
        ]
    )


def copy_bandwidth():
    block = np.ones(64 << 20, np.uint8)
    target = np.empty_like(block)
    seconds, _ = best_time(lambda: np.copyto(target, block), 5)
    return 2 * block.nbytes / seconds


def peer_rows(data, batch, chosen, ours):
    rows = []
    for name, work in (
        ("NumPy bincount", lambda: numpy_scores(data.codes, data.card, batch, chosen)),
        ("pyAgrum", lambda: pyagrum_scores(data, batch, chosen)),
        ("pgmpy", lambda: pgmpy_scores(data, batch, chosen)),
    ):
        try:
            seconds, scores = best_time(work, 1)
        except ImportError:
            rows.append((name, "not installed", "", "", ""))
            continue
        apart = np.abs(scores - ours[chosen]).max()
        rows.append((name, len(chosen), seconds, len(chosen) / seconds, apart))
    return rows


def main():
    networks_rate = []
    bandwidth = copy_bandwidth()
    for n_rows in (1000, 5000, 100_000):
        data = load_sample("alarm", n_rows, frame=n_rows == 5000)
        batch = Families.up_to(data.n_vars, MAX_PARENTS)
        seconds, ours = best_time(lambda d=data, b=batch: score_families(d, b))
        # Bytes of codes that one pass per joint table would read.
        sets = {1: 37, 2: 666, 3: 7770, 4: 66045}
        n_bytes = sum(size * count for size, count in sets.items()) * n_rows
        networks_rate.append(
            (n_rows, len(batch), seconds, len(batch) / seconds, n_bytes / seconds / 1e9)
        )
        if n_rows == 5000:
            chosen = np.sort(
                np.random.default_rng(1).choice(len(batch), N_PEER_FAMILIES, False)
            )
            rate = len(batch) / seconds
            peers = peer_rows(data, batch, chosen, ours)
    print(f"counting kernel: {_core.bit_kernel()}; cores: {_core.n_cores()}")
    print_table(
        ("rows", "families", "seconds", "families/s", "codes GB/s"), networks_rate
    )
    print(
        f"copying memory: {bandwidth / 1e9:.1f} GB/s read and written. 'codes GB/s' is "
        "what a pass over\nthe columns of every joint table would read; bit sets and "
        "shared prefixes read less."
    )
    print("\nagainst the same families of ALARM, 5,000 rows:")
    print_table(
        ("scorer", "families", "seconds", "families/s", "ours faster by", "max apart"),
        [
            (name, n, s, r, f"{rate / r:.0f}x" if r else "", a)
            for name, n, s, r, a in peers
        ],
    )


if __name__ == "__main__":
    main()
