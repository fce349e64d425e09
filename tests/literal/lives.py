"""Lives of a job, drawn at random."""

from hypothesis import strategies as st


@st.composite
def lives(draw, ranks):
    """(ranks, start, stop, read) of each life of a job; a restart may go back behind the start of the life before."""
    rows, start = [], 0
    for _ in range(draw(st.integers(1, 5))):
        stop = start + draw(st.integers(0, 9))
        rows.append((draw(st.sampled_from(ranks)), start, stop, stop + draw(st.integers(0, 1))))
        start = draw(st.integers(max(0, start - 3), stop))
    return rows
