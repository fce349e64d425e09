"""Legs of a history as far as a loader looks at them: no time, no nodes."""

from clustersim.history import Leg

_BLANK = Leg(*[0] * len(Leg._fields))


def leg_of(number, ranks, start, stop, read, kept):
    """Leg `number`: steps [start, stop) trained, [start, read) read by so many ranks; the next leg starts at `kept`."""
    return _BLANK._replace(leg=number, data=ranks, start=start, stop=stop, read=read, kept=kept)
