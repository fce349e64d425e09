"""Quantities are read exactly, written back losslessly, and refused in our own words."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic_core import PydanticCustomError

from clustersim.scenario.quantities import BANDWIDTH, DURATION, LIMIT, read, write_duration
from clustersim.scenario.rates import Every, Rate, parse_every, parse_rate
from clustersim.scenario.units import parse_bytes, parse_count, parse_duration, parse_number

PARSERS = [parse_duration, parse_count, parse_number, parse_bytes, parse_rate, parse_every]


@pytest.mark.parametrize(
    ("text", "duration_ns"),
    [
        ("6.2 s", 6_200_000_000),
        ("0.1 s", 100_000_000),
        ("30 min", 1_800_000_000_000),
        ("30min", 1_800_000_000_000),
        (" +1.5e1 h ", 54_000_000_000_000),
        ("54 d", 4_665_600_000_000_000),
        ("1 w", 604_800_000_000_000),
        ("1 y", 365 * 86_400_000_000_000),
        ("7 us", 7_000),
        ("7 ms", 7_000_000),
        ("0 s", 0),
        ("1_000 ns", 1_000),
        # Half a nanosecond goes to the even neighbour, as Python rounds.
        ("0.5 ns", 0),
        ("1.5 ns", 2),
        # A float would give ...992.
        ("4611686018427387903 ns", 2**62 - 1),
    ],
)
def test_durations_are_exact_nanoseconds(text, duration_ns):
    assert parse_duration(text) == duration_ns


@settings(deadline=None)
@given(st.decimals(min_value=0, max_value=10**6, places=6), st.sampled_from(sorted(DURATION.factors)))
def test_a_duration_is_rounded_once(number, unit):
    exact = Fraction(number) * DURATION.factors[unit]
    if round(exact) > LIMIT:
        with pytest.raises(PydanticCustomError, match="146 years"):
            parse_duration(f"{number:f} {unit}")
    else:
        assert parse_duration(f"{number:f} {unit}") == round(exact)


@settings(deadline=None)
@given(st.integers(0, LIMIT))
def test_a_written_duration_reads_back(duration_ns):
    assert parse_duration(write_duration(duration_ns)) == duration_ns


@pytest.mark.parametrize(
    ("duration_ns", "text"),
    [(0, "0 s"), (5_400 * 10**9, "90 min"), (6_200_000_000, "6200 ms"), (86_400 * 10**9, "1 d"), (17, "17 ns")],
)
def test_a_duration_is_written_in_the_largest_unit_that_divides_it(duration_ns, text):
    assert write_duration(duration_ns) == text


@pytest.mark.parametrize(
    ("value", "count"),
    [
        (0, 0),
        (2048, 2048),
        (2048.0, 2048),
        ("2048", 2048),
        ("16.8 M", 16_800_000),
        ("20 B", 20 * 10**9),
        ("15.6T", 15_600_000_000_000),
        ("300 k", 300_000),
        ("0.001k", 1),
        (2**62 - 1, 2**62 - 1),
    ],
)
def test_counts_are_exact_integers(value, count):
    parsed = parse_count(value)
    assert parsed == count
    assert type(parsed) is int


@pytest.mark.parametrize(
    "value",
    [
        *[True, False, float("nan"), float("inf"), 2.5, "2.5", "0.0001 k", -1, "-1", "4 q", "", None, []],
        *[2**62, 1e308, 10**310, -(10**310), 10**4000, "9" * 400],
    ],
)
def test_what_is_no_count_is_refused(value):
    with pytest.raises(PydanticCustomError, match="whole number"):
        parse_count(value)


@pytest.mark.parametrize(
    ("text", "size"),
    [("4 B", 4), ("2.3 TB", 2_300_000_000_000), ("50 GB", 50 * 10**9), ("1.5 KiB", 1536), ("1 EiB", 2**60)],
)
def test_sizes_are_whole_bytes(text, size):
    assert parse_bytes(text) == size


@pytest.mark.parametrize("value", ["0.5 B", "-1 B", "8 EB", 4, "4", "4 b", "1 GB/s"])
def test_what_is_no_size_is_refused(value):
    with pytest.raises(PydanticCustomError):
        parse_bytes(value)


@pytest.mark.parametrize("value", [True, -1, -0.5, -(10**310), float("nan"), "3", None])
def test_what_is_no_number_is_refused(value):
    with pytest.raises(PydanticCustomError, match="a number, not negative"):
        parse_number(value)


@pytest.mark.parametrize("value", [1e-100, 1.1e99, 1e308, float("inf"), 10**310, 10**4000])
def test_a_number_beyond_the_exponents_of_quantities_is_refused(value):
    with pytest.raises(PydanticCustomError, match=r"a number from 1e-99 to 1e\+99, found"):
        parse_number(value)


@pytest.mark.parametrize("value", [0, 1e-99, 1e99, 10**98])
def test_a_number_may_reach_those_exponents(value):
    assert parse_number(value) == float(value)


@pytest.mark.parametrize(
    "value", ["9" * 190 + "e99 per day", "1 per " + "9" * 19 + " node-days", "1 per " + "9" * 5000 + " node-days"]
)
def test_a_rate_beyond_all_use_is_refused(value):
    with pytest.raises(PydanticCustomError, match="expected a"):
        parse_rate(value)


@pytest.mark.parametrize(
    ("text", "per_day", "of"),
    [
        ("6.5 per 1000 node-days", 6.5e-3, "node"),
        ("0.01 per node-day", 0.01, "node"),
        ("2 per GPU-year", 2 / 365, "GPU"),
        ("24 per 2 GPU-hours", 288, "GPU"),
        ("3 per day", 3, "job"),
        ("7 per week", 1, "job"),
        ("0 per day", 0, "job"),
    ],
)
def test_rates_say_events_per_time_and_of_what(text, per_day, of):
    rate = parse_rate(text)
    assert rate.of == of
    assert rate.per_ns * 86_400e9 == pytest.approx(per_day, rel=1e-15)


@pytest.mark.parametrize(
    "value", ["-3 per day", "3 per 0 node-days", "3 per node", "3 per 10 days", "3 GB", "per day", 3]
)
def test_what_is_no_rate_is_refused(value):
    with pytest.raises(PydanticCustomError, match="a rate such as"):
        parse_rate(value)


@settings(deadline=None)
@given(
    st.floats(0, 1e90, allow_subnormal=False).filter(lambda x: x == 0 or x > 1e-90),
    st.integers(1, 10**9),
    st.sampled_from(["node", "GPU"]),
    st.sampled_from([3_600 * 10**9, 86_400 * 10**9, 604_800 * 10**9, 365 * 86_400 * 10**9]),
)
def test_a_written_rate_reads_back(events, per, of, period_ns):
    for rate in (Rate(events, per, of, period_ns), Rate(events, 1, "job", period_ns)):
        assert parse_rate(str(rate)) == rate


@settings(deadline=None)
@given(
    st.one_of(
        st.builds(Every, st.sampled_from(["time", "steps"]), st.integers(1, LIMIT - 1)),
        st.sampled_from([Every("young"), Every("daly")]),
    )
)
def test_a_written_interval_reads_back(every):
    assert parse_every(str(every)) == every


def test_an_interval_is_time_steps_or_a_formula():
    assert parse_every("10 min") == Every("time", 600 * 10**9)
    assert parse_every("1 step") == Every("steps", 1)
    assert parse_every("daly") == Every("daly", 0)


@pytest.mark.parametrize(
    "value", ["0 min", "0 steps", "0.4 ns", "1.5 steps", "-10 min", "3 GB", 20, "20", "Young", None]
)
def test_what_is_no_interval_is_refused(value):
    with pytest.raises(PydanticCustomError):
        parse_every(value)


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("3 GB", '"3 GB" (a size)'),
        ("3 GB/s", '"3 GB/s" (a bandwidth)'),
        ("3 TFLOP/s", '"3 TFLOP/s" (a rate of computing)'),
        ("3 k", '"3 k" (a whole number)'),
        ("3", '"3" (a number without unit)'),
        (3, "3 (a number without unit)"),
        ("3 minutes", '"3 minutes" (unit is none of ns, us, ms, s, min, h, d, w, y)'),
        ("soon", '"soon"'),
        (None, "nothing"),
    ],
)
def test_a_wrong_kind_of_unit_is_named(value, found):
    with pytest.raises(PydanticCustomError) as caught:
        parse_duration(value)
    assert caught.value.message() == f'expected a duration such as "10 min", found {found}'


@pytest.mark.parametrize(
    ("parse", "value", "nearest"),
    [
        (parse_duration, "10 mins", "min"),
        (parse_duration, "20 minutes", "min"),
        (parse_duration, "20 m", "min"),
        (parse_duration, "2 weeks", "w"),
        (parse_duration, "2 Sec", "s"),
        (parse_duration, "2 H", "h"),
        (parse_duration, "2 \u00b5s", "us"),
        (parse_duration, "2 \u03bcs", "us"),
        (parse_duration, "2 stones", ""),
        (parse_duration, "2 GB", ""),
        (parse_duration, "1,000 mins", ""),
        (parse_duration, "2", ""),
        (parse_count, "5b", "B"),
        (parse_count, "5 billion", "B"),
        (parse_count, "5 thousands", "k"),
        (parse_count, "5 K", "k"),
        (parse_bytes, "4 bytes", "B"),
        (parse_bytes, "4 gib", "GiB"),
        (parse_every, "Young", "young"),
        (parse_every, "10 Steps", "steps"),
        (parse_every, "2 weeks", "w"),
    ],
)
def test_the_nearest_unit_or_word_is_named(parse, value, nearest):
    with pytest.raises(PydanticCustomError) as caught:
        parse(value)
    assert caught.value.context["nearest"] == nearest


COMMA = "a comma in the number: write 1000 or 1_000, and 1.5"


@pytest.mark.parametrize(
    ("parse", "unit"),
    [(parse_rate, "per node-day"), (parse_every, "s"), (parse_duration, "s"), (parse_bytes, "B"), (parse_count, "M")],
)
@pytest.mark.parametrize(
    ("number", "fault"),
    [
        ("1e400", "an exponent of more than two digits"),
        ("1.5e-300", "an exponent of more than two digits"),
        ("1,000", COMMA),
        ("1,5", COMMA),
        ("1 000", "a number in several parts"),
        ("1.000.000", "a number in several parts"),
    ],
)
def test_it_is_said_what_is_wrong_with_a_number(parse, unit, number, fault):
    with pytest.raises(PydanticCustomError) as caught:
        parse(f"{number} {unit}")
    assert caught.value.message().endswith(f'found "{number} {unit}" ({fault})')


def test_a_bandwidth_is_bytes_a_second():
    assert read(BANDWIDTH, "50 GB/s") == 50 * 10**9


@settings(deadline=None)
@given(
    st.one_of(st.text(), st.from_regex(r"[+-]?[0-9_.e]{1,8} ?[a-zA-Z/µ]{0,6}"), st.floats(), st.integers(), st.none())
)
def test_any_value_is_parsed_or_refused(value):
    for parse in PARSERS:
        try:
            parsed = parse(value)
        except PydanticCustomError:
            continue
        assert parsed is not None


def test_a_huge_exponent_or_text_costs_nothing():
    for text in ("1e999999999 d", "9" * 10**6 + " d"):
        with pytest.raises(PydanticCustomError, match="a duration"):
            parse_duration(text)
