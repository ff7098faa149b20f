"""Blocks of missing cells are filled by what observed rows show, not by what suits."""

import numpy as np
import pytest

import bayesmend as bm
from experiments.waves import VARIANTS, draw_survey

# What each method takes beside the table: proofs of these tables take for ever.
METHODS = {
    "auto": {},
    "local": {},
    "exact": {"time_limit": 0.5},
    "em": {"restarts": 2},
    "em-hard": {"restarts": 2},
}
SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 20))]


def consistency(method, variant, seed, **options):
    survey = draw_survey(variant, seed=seed)
    chosen = {**METHODS[method], **options}
    result = bm.learn(survey.data, method=method, seed=seed, **chosen)
    return survey.consistency(result.completed)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(
    "method",
    [
        pytest.param(name, marks=pytest.mark.slow if name == "exact" else [])
        for name in METHODS
    ],
)
def test_a_block_goes_with_the_rest_of_its_rows(method, variant, seed):
    assert consistency(method, variant, seed) >= 0.99


def test_without_support_the_block_is_filled_with_one_constant():
    """The trap itself; were it gone, the tests above would show nothing."""
    assert consistency("local", "plain", 0, support=0.0) < 0.8


def test_an_alternation_of_structure_and_completion_goes_by_examples_too():
    assert consistency("local", "plain", 1, solver="greedy") >= 0.99


def test_the_score_pays_for_what_nobody_has_seen():
    survey = draw_survey("plain", seed=1)
    dag = bm.Dag.from_arcs(survey.data.names, [("wave", "race3"), ("race", "race3")])
    plain, supported = (
        bm.score.FamilyScorer.completed(
            survey.data, survey.truth, score=bm.Score(support=support)
        ).dag(dag)
        for support in (0.0, 0.1)
    )
    n_block = survey.data.n_missing
    assert plain - supported == pytest.approx(0.1 * n_block)


@pytest.mark.filterwarnings("ignore::bayesmend.errors.ReadingWarning")
@pytest.mark.parametrize("method", ["auto", "local", "em", "em-hard"])
@pytest.mark.slow
def test_a_number_asked_in_one_wave_goes_with_the_number_that_is_known(method):
    """Ages in years and in months, both cut into intervals by themselves."""
    rng = np.random.default_rng(1)
    wave = rng.choice([2009, 2011], 4000)
    years = rng.integers(0, 80, 4000)
    months = 12 * years + rng.integers(0, 12, 4000)
    asked = [m if w == 2011 else None for m, w in zip(months, wave, strict=True)]
    table = {"wave": wave, "age": years, "months": asked}
    filled = bm.learn(table, method=method, seed=1).completed.to_table()["months"]
    error = np.abs(np.array(filled, float) / 12 - years)
    # The intervals are some eleven years wide.
    assert (error < 2 * 80 / 7).mean() >= 0.99
