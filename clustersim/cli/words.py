"""Numbers as people read them: three digits and a unit, exact where a number is small enough to be read whole."""

_COUNT_UNITS = ((10**12, "T"), (10**9, "B"), (10**6, "M"), (10**3, "k"))
_BYTE_UNITS = ((10**15, "PB"), (10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (10**3, "kB"), (1, "B"))
_TIME_UNITS_S = ((48 * 3600, 86400, "d"), (2 * 3600, 3600, "h"), (120, 60, "min"), (1, 1, "s"), (1e-3, 1e-3, "ms"))
# Below this, whole numbers are shown whole.
_EXACT_BELOW = 100_000


def count(value: float) -> str:
    """12,345 as it is, 1.23 M beyond; a mean that is no whole number keeps three digits."""
    if float(value).is_integer() and abs(value) < _EXACT_BELOW:
        return f"{value:,.0f}"
    for factor, unit in _COUNT_UNITS:
        # Compared as it will be shown, so that 999,999 is 1 M and not 1000 k.
        if abs(_rounded(value)) >= max(factor, _EXACT_BELOW):
            return f"{_digits(value / factor)} {unit}"
    return _digits(value)


def size(value: float) -> str:
    """Bytes in decimal units."""
    return next((f"{_digits(value / f)} {unit}" for f, unit in _BYTE_UNITS if abs(_rounded(value)) >= f), "0 B")


def duration(seconds: float) -> str:
    """Seconds in the unit that a person would take."""
    if seconds == 0:
        return "0 s"
    for least, factor, unit in _TIME_UNITS_S:
        if abs(seconds) >= least:
            return f"{_digits(seconds / factor)} {unit}"
    return f"{_digits(seconds * 1e6)} us"


def hours(value: float) -> str:
    """Hours in the unit that a person would take."""
    return duration(3600 * value)


def share(value: float) -> str:
    """A share in per cent; only all and nothing are shown as 100 % and 0 %."""
    if value in (0.0, 1.0):
        return f"{100 * value:.0f} %"
    if value > 1:
        above = _digits(100 * value)
        return "> 100 %" if above == "100" else f"{above} %"
    if value > 0.9999:
        return "> 99.99 %"
    if abs(value) < 0.0001:
        return "< 0.01 %" if value > 0 else "> -0.01 %"
    return f"{100 * value:.2f} %" if value > 0.99 or abs(value) < 0.01 else f"{100 * value:.1f} %"


def plural(number: float, one: str, many: str | None = None) -> str:
    """A count and its noun."""
    return f"{count(number)} {one if number == 1 else many or one + 's'}"


def _digits(value: float) -> str:
    rounded = _rounded(value)
    return f"{rounded:,.0f}" if abs(rounded) >= 1000 else f"{rounded:.3g}"


def _rounded(value: float) -> float:
    """To three significant digits."""
    return float(f"{value:.3g}")
