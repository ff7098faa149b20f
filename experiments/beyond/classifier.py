"""The classifier against logistic regression, random forests and naive Bayes.

Twenty public tables with a class. A third of the rows is set aside; a tenth of the
cells but the classes is hidden, and none, a tenth or half of the labels of the other
rows. The class of the rows set aside is predicted.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesmend.data.states import MISSING
from bayesmend.data.table import IncompleteData
from bayesmend.errors import ReadingWarning
from bayesmend.hiding.mechanisms import hide_mcar
from bayesmend.hiding.record import Hidden
from bayesmend.seed import as_generator
from experiments.data import DataFolder
from experiments.design import (
    ACCURACY,
    Answer,
    Block,
    Curves,
    Experiment,
    Measure,
    Method,
    Place,
    Run,
    Setting,
    Task,
)
from experiments.packages import need
from experiments.peers.pipelines import PIPELINES

__all__ = ["class_loss", "design"]

REPETITIONS = 10
MAX_ROWS = 600
RATE = 0.1
UNLABELLED = (0, 10, 50)
LEAST = 0.001
TABLES = {
    "breast_cancer.csv": ("breast cancer", "Class"),
    "bridges2.csv": ("bridges", "TYPE"),
    "car.csv": ("car", "class"),
    "credit_a_disc.csv": ("credit", "class"),
    "dermatology_disc.csv": ("dermatology", "class"),
    "heart_h_disc.csv": ("heart", "num"),
    "hepatitis_disc.csv": ("hepatitis", "Class"),
    "hypothyroid_disc.csv": ("hypothyroid", "Class"),
    "kr_vs_kp.csv": ("kr-vs-kp", "class"),
    "lucas.csv": ("lucas", "Lung_cancer"),
    "lymphography.csv": ("lymphography", "class"),
    "mushroom.csv": ("mushroom", "class"),
    "nursery.csv": ("nursery", "class"),
    "primary_tumor.csv": ("primary tumor", "class"),
    "solar_flare2.csv": ("solar flare", "class"),
    "soybean.csv": ("soybean", "class"),
    "spect.csv": ("spect", "OVERALL_DIAGNOSIS"),
    "tic_tac_toe.csv": ("tic-tac-toe", "Class"),
    "votes.csv": ("votes", "Class"),
    "zoo.csv": ("zoo", "type"),
}

CLASS_LOSS = Measure(
    "log_loss",
    "log-loss of the classes (nats per row)",
    digits=3,
    is_better_high=False,
)


def design(*, seed: int = 1, time_limit: float | None = None) -> Experiment:
    """Lay out the experiment; no method of it needs a limit of seconds."""
    settings = tuple(
        Setting(
            f"{title}/{percent}",
            {
                "file": file,
                "target": target,
                "max_rows": MAX_ROWS,
                "rate": RATE,
                "unlabelled": percent / 100,
            },
            range(REPETITIONS),
            stream=title,
            files=(file,),
        )
        for file, (title, target) in TABLES.items()
        for percent in UNLABELLED
    )
    return Experiment(
        name="classifier",
        title="Classes of incomplete rows, against classifiers of scikit-learn",
        settings=settings,
        methods=(
            Method("ensemble", "ensemble", solve, {"method": "ensemble"}),
            Method("em", "structural EM", solve, {"method": "em"}),
            *(
                Method(name, label, solve_peer, {"name": name}, needs=("sklearn",))
                for name, label in (
                    ("logistic", "logistic regression"),
                    ("forest", "random forest"),
                    ("naive-bayes", "naive Bayes"),
                )
            ),
        ),
        blocks=(*map(_over_tables, UNLABELLED), *map(_block, settings)),
        make=make,
        seed=seed,
        quick_repetitions=1,
        quick_settings=("zoo", "votes"),
        measure=measure,
        measures=(ACCURACY, CLASS_LOSS),
        focus=("ensemble",),
        notes=(
            f"At most {MAX_ROWS} rows of each table, drawn for each repetition; a "
            "third of them is set aside and judged.",
            f"{100 * RATE:g} % of the observed cells but the classes are hidden "
            "completely at random, in all rows.",
            f"Log-loss: a probability below {LEAST:g} counts as {LEAST:g}, also that "
            "of a class that no labelled row has.",
            "`BayesianNetworkClassifier` with its defaults (ensemble), and with "
            "method='em'. It learns from the rows without a label, too; the others "
            "leave them out.",
            "The others see a missing cell as a label of its own: logistic regression "
            "and a forest of 200 trees one-hot columns, naive Bayes the labels. Their "
            "parameters are those of scikit-learn.",
            "All tables: the mean over the tables, repetition by repetition.",
        ),
        curves=Curves("labels hidden (%)", _place),
    )


def _over_tables(percent: int) -> Block:
    names = tuple(f"{title}/{percent}" for title, _ in TABLES.values())
    return Block(f"all tables, {percent} % unlabelled", names)


def _block(setting: Setting) -> Block:
    title, _, percent = setting.name.rpartition("/")
    return Block(f"{title}, {percent} % unlabelled", (setting.name,), is_drawn=False)


def _place(block: Block, method: Method) -> Place | None:
    title, _, percent = block.settings[0].rpartition("/")
    panel = title if len(block.settings) == 1 else "mean over tables"
    return Place(panel, float(percent), method.label, method.name)


def make(run: Run, folder: DataFolder) -> Task:
    """Draw rows, set some aside, and hide cells and labels.

    What is recorded as hidden are the labels of the rows set aside.
    """
    given = run.setting.parameters
    whole = folder.table(given["file"])
    target = whole.index(given["target"])
    generator = as_generator(run.seed)
    labelled = np.flatnonzero(whole.codes[:, target] != MISSING)
    rows = generator.permutation(labelled)[: given["max_rows"]]
    table = whole.pick(rows)
    others = [name for v, name in enumerate(table.names) if v != target]
    data = hide_mcar(table, given["rate"], variables=others, seed=generator).data
    n_learned = table.n_rows - table.n_rows // 3
    n_unlabelled = round(given["unlabelled"] * n_learned)
    codes = data.codes.copy(order="F")
    codes[generator.permutation(n_learned)[:n_unlabelled], target] = MISSING
    aside = np.arange(n_learned, table.n_rows)
    codes[aside, target] = MISSING
    hidden = Hidden(
        data.with_codes(codes),
        rows=aside,
        variables=np.full(len(aside), target),
        true_codes=table.codes[aside, target],
        n_candidates=table.n_rows,
        request={"mechanism": "rows set aside", **given},
    )
    return Task(hidden, target=given["target"])


def solve(task: Task, *, seed: int, n_threads: int, **options: Any) -> Answer:
    """Predict by a Bayesian network, or several; rows without a label count."""
    classifier = need("bayesmend.sklearn").BayesianNetworkClassifier(
        unknown="missing",
        discretize=None,
        random_state=seed,
        n_threads=n_threads,
        **options,
    )
    with warnings.catch_warnings():  # constant columns are passed through
        warnings.simplefilter("ignore", ReadingWarning)
        return _predict(task, classifier)


def solve_peer(
    task: Task, *, seed: int, n_threads: int, name: str, **options: Any
) -> Answer:
    """Predict by a classifier of scikit-learn; it uses one thread."""
    return _predict(task, PIPELINES[name](seed, **options), labelled_only=True)


def _predict(task: Task, classifier: Any, *, labelled_only: bool = False) -> Answer:
    """Fit to the rows that are not set aside, and tell the classes of the others."""
    data, aside = task.data, task.hidden.rows
    target = data.index(str(task.target))
    cells = _labels(data)
    X, y = np.delete(cells, target, axis=1), cells[:, target]
    is_fitted = np.ones(len(y), dtype=bool)
    is_fitted[aside] = False
    if labelled_only:
        is_fitted &= data.codes[:, target] != MISSING
    # Without the type of objects, for which scikit-learn knows no classes.
    labels = y[is_fitted].astype(str) if labelled_only else y[is_fitted]
    classifier.fit(X[is_fitted], labels)
    place = {label: code for code, label in enumerate(data.states[target])}
    order = [place[label] for label in classifier.classes_.tolist()]
    p = np.zeros((len(aside), len(place)))
    p[:, order] = classifier.predict_proba(X[aside])
    codes = data.codes.copy(order="F")
    codes[aside, target] = p.argmax(axis=1)
    chances = p[np.arange(len(p)), task.hidden.true_codes]
    return Answer(data.with_codes(codes), extra={CLASS_LOSS.name: class_loss(chances)})


def _labels(data: IncompleteData) -> NDArray[Any]:
    """Give the cells of a table as text, None where missing."""
    found = np.full(data.codes.shape, None, dtype=object)
    for v, states in enumerate(data.states):
        seen = data.codes[:, v] != MISSING
        found[seen, v] = np.array(states, dtype=object)[data.codes[seen, v]]
    return found


def class_loss(chances: NDArray[np.float64]) -> float:
    """Give the mean of -log of the probability of the true class, in nats.

    Examples
    --------
    >>> round(class_loss(np.array([1.0, 0.5])), 3)
    0.347
    >>> class_loss(np.array([0.0])) == class_loss(np.array([LEAST]))
    True
    """
    return float(-np.log(np.maximum(chances, LEAST)).mean())


def measure(task: Task, answer: Answer) -> Mapping[str, Any]:
    """Give the log-loss, which the method has told."""
    return {CLASS_LOSS.name: answer.extra[CLASS_LOSS.name]}
