"""What is kept of the numbers within intervals."""

import datetime
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesmend.data.discretize import Discretization, fit_discretization
from bayesmend.data.numbers import (
    Numbers,
    count_decimals,
    date_number,
    date_text,
    number_date,
)
from bayesmend.errors import DataError, ParameterError

DECIMALS = st.integers(0, 3).flatmap(
    lambda d: st.tuples(
        st.just(d), st.lists(st.integers(-5000, 5000), min_size=1, max_size=60)
    ).map(lambda pair: [round(x / 10 ** pair[0], pair[0]) for x in pair[1]])
)


@given(DECIMALS, st.lists(st.integers(-5000, 5000), unique=True, max_size=4))
def test_medians_and_values_match_a_plain_count(numbers, cuts):
    cuts = tuple(float(cut) for cut in sorted(cuts))
    known = Numbers.of(np.array(numbers, dtype=float), cuts)
    ends = [-np.inf, *cuts, np.inf]
    for low, high, median, values in zip(
        ends[:-1], ends[1:], known.medians, known.values, strict=True
    ):
        inside = sorted(x for x in numbers if low < x <= high)
        assert list(values) == inside
        assert low < median <= high
        assert median == round(median, known.decimals)
        if inside:
            off = abs(median - statistics.median(inside))
            assert off <= 0.500001 * 10**-known.decimals
            assert inside[0] <= median <= inside[-1]


def test_many_numbers_are_kept_by_rank():
    known = Numbers.of(np.arange(1001.0), ())
    assert len(known.values[0]) == 100
    assert known.values[0][0] == 0
    assert known.values[0][-1] == 1000
    assert known.medians == (500.0,)


@given(
    st.lists(st.tuples(st.integers(-50, 50), st.integers(0, 4)), max_size=80),
    st.booleans(),
)
def test_a_number_that_counts_twice_is_two_numbers(counted, is_date):
    numbers = np.array([x for x, _ in counted], dtype=float)
    counts = np.array([k for _, k in counted], dtype=float)
    whole = Numbers.of(numbers, (-10.0, 7.0), is_date=is_date, counts=counts)
    repeated = np.repeat(numbers, counts.astype(int)) if counts.any() else numbers
    assert whole == Numbers.of(repeated, (-10.0, 7.0), is_date=is_date)


def test_numbers_may_count_in_fractions():
    numbers, counts = np.array([1.0, 2.0, 3.0]), np.array([0.1, 0.1, 0.8])
    known = Numbers.of(numbers, (), counts=counts)
    assert known.medians == (3.0,)
    assert [known.values[0].count(x) for x in (1, 2, 3)] == [10, 10, 80]


@pytest.mark.parametrize(
    ("numbers", "decimals"),
    [([1.0, 3.0], 0), ([0.5, 2], 1), ([1e-7], 7), ([1 / 3], None), ([1e-20], None)],
)
def test_decimals_are_those_of_the_longest_number(numbers, decimals):
    assert count_decimals(np.array(numbers)) == decimals


def test_draws_are_observed_numbers_of_the_interval():
    known = Numbers.of(np.array([1.0, 2, 3, 10, 11]), (5.0,))
    codes = np.array([0, 0, 0, 1, 1], dtype=np.uint8)
    drawn = known.fill(codes, np.array([0.0, 0.5, 0.999, 0.2, 0.7]))
    assert drawn.tolist() == [1, 2, 3, 10, 11]
    assert known.fill(codes).tolist() == [2, 2, 2, 10, 10]


@given(st.datetimes(datetime.datetime(1900, 1, 1), datetime.datetime(2100, 1, 1)))
def test_dates_are_numbers_and_back(moment):
    assert number_date(date_number(moment)) == moment
    assert date_number(date_text(date_number(moment))) == date_number(moment)


def test_what_is_no_date_has_no_number():
    values = ("odd", None, 3.5, np.datetime64("NaT"))
    assert np.isnan([date_number(x) for x in values]).all()
    zone = datetime.timezone(datetime.timedelta(hours=1))
    assert date_number(datetime.datetime(1970, 1, 1, 1, tzinfo=zone)) == 0


def test_a_rule_keeps_what_it_knows_of_numbers():
    rule = fit_discretization({"age": [20, 30, 40, 50]}, {"age": 2})
    assert rule.numbers_of("age").medians == (25, 45)
    again = rule.with_numbers("age", np.array([1.0, 99.0]))
    assert again.numbers == rule.numbers
    fresh = Discretization.from_cuts({"age": [30]})
    assert fresh.with_numbers("age", np.array([1.0, 99.0])).numbers[0].medians == (
        1,
        99,
    )


def test_intervals_of_dates_are_labelled_by_dates():
    day = 86400.0
    rule = Discretization(("d",), ((10 * day,),))
    rule = rule.with_numbers("d", np.array([day, 20 * day]), is_date=True)
    assert rule.labels("d") == ("<=1970-01-11", ">1970-01-11")
    assert rule.numbers[0].plain(20 * day) == datetime.datetime(1970, 1, 21)


def test_a_rule_survives_plain_types():
    rule = fit_discretization({"a": [1.5, 2, 3], "b": [1, 2, 3]}, {"a": 2, "b": [2]})
    back = Discretization.from_dict(rule.to_dict())
    assert back == rule
    assert back.numbers == rule.numbers


@pytest.mark.parametrize(
    ("plain", "message"),
    [
        ([], "must map names"),
        ({"a": {"cuts": [2, 1]}}, "finite and ascending"),
        ({"a": {"cuts": [1], "numbers": {}}}, "kind, decimals, medians and values"),
        (
            {
                "a": {
                    "cuts": [1],
                    "numbers": {
                        "kind": "integer",
                        "decimals": 0,
                        "medians": [1],
                        "values": [[1]],
                    },
                }
            },
            "do not fit its numbers",
        ),
        (
            {
                "a": {
                    "cuts": [],
                    "numbers": {
                        "kind": "odd",
                        "decimals": 0,
                        "medians": [1],
                        "values": [[1]],
                    },
                }
            },
            "do not fit each other",
        ),
    ],
)
def test_a_rule_that_makes_no_sense_is_refused(plain, message):
    with pytest.raises((DataError, ParameterError), match=message):
        Discretization.from_dict(plain)
