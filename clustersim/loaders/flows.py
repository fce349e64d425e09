"""Flows: what a reader behind a shuffle buffer yields, one sample after another, if nobody interrupts it.

A flow begins with an empty buffer at a local position of the reader's part, or with what another flow's buffer held.
It is a space of its own to the account: offset i is the i-th sample that it yields. To ask it costs its whole length,
or of one without end all before what is asked for; where there is no buffer, the stretch that is asked for.
"""

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clustersim import streams
from clustersim.account.spaces import cells_of
from clustersim.data.orders import Order
from clustersim.loaders.buffers import Buffer
from clustersim.loaders.deal import Deal
from clustersim.loaders.dealer import Endless
from clustersim.loaders.listed import Listed

Ints = NDArray[np.int64]

_KEEP = 4096  # flows whose samples are kept


class Source(NamedTuple):
    """The part that a reader pulls from: epochs of an order from `epoch` on, as they are dealt to it."""

    family: int
    epoch: int
    same: bool  # the seed knows no other epoch
    deals: tuple[Deal | Listed, ...] | Endless
    readers: int
    reader: int
    attempt: int  # which restart's random numbers; 0 if they are the same after every restart


class Flow(NamedTuple):
    """A flow that pulls from a local position on, with what flow `before` held after so many samples."""

    source: Source
    position: int
    before: int  # the number of a flow, -1: an empty buffer
    after: int
    ready: int = 0  # how many of them, the last ones, were to go out next as they lay
    ahead: int = 0  # samples that had come out of it beyond `after`, and are the last of those


class FlowSpaces:
    """The flows of a run, numbered as they are asked for: the account's family k is flow k, and has no epochs."""

    law: Literal["other"] = "other"
    same_every_epoch = False

    def __init__(self, order: Order, buffer: Buffer, epochs: int | None, one_seed: bool = False) -> None:
        """`epochs`: of which a flow may consist, None: it has no end; `one_seed`: all readers shuffle by the same."""
        self.size = order.size
        self.reach = 2**62 if epochs is None else order.size * (epochs + 1)  # padding included
        self.buffer = buffer
        self._order = order
        self._one_seed = one_seed
        self._numbers: dict[Flow, int] = {}
        self._flows: list[Flow] = []
        self._kept: dict[int, Ints] = {}

    @property
    def block_starts(self) -> Ints:
        """The order's blocks, where it has any."""
        return cells_of(self._order)

    def number(self, flow: Flow) -> int:
        """The number of a flow."""
        number = self._numbers.setdefault(flow, len(self._flows))
        if number == len(self._flows):
            self._flows.append(flow)
        return number

    def samples_at(self, family: int, epoch: int, offsets: Ints) -> Ints:
        """The samples that a flow yields at some places, int64 of their shape."""
        flow = self._flows[family]
        if self.buffer.size or flow.before >= 0 or not len(offsets):
            return self._yields(family, int(offsets.max(initial=-1)) + 1)[offsets]
        first, last = int(offsets.min()), int(offsets.max())
        return self._part(flow.source, flow.position + first, flow.position + last + 1)[offsets - first]

    def _yields(self, flow: int, count: int) -> Ints:
        """All that a flow yields, in order; of one without end at least the first `count` samples."""
        has = len(self._kept[flow]) if flow in self._kept else -1
        endless = isinstance(self._flows[flow].source.deals, Endless)
        if has < (count if endless else 0):
            if has < 0 and len(self._kept) >= _KEEP:
                del self._kept[next(iter(self._kept))]
            # Twice as far as before, so that all the plays together cost no more than two of the last.
            self._kept[flow] = self._play(flow, max(count, 2 * has) if endless else None)[0]
        return self._kept[flow]

    def offsets_of(self, family: int, sample: int, stop: int) -> Ints:
        """All places below `stop` at which a flow yields the sample, rising, int64."""
        return np.flatnonzero(self.samples_at(family, 0, np.arange(stop)) == sample)

    def offset_of(self, family: Ints, epoch: Ints, sample: int) -> Ints:
        """A flow may yield a sample several times (`offsets_of`).

        Raises:
            ValueError: always.
        """
        raise ValueError("what a flow yields has no single place in it")

    def held(self, flow: int, after: int, ahead: int) -> Ints:
        """What the buffer of a flow holds when `ahead` samples were fetched beyond those that count; they follow it."""
        out, content = self._play(flow, after + ahead)
        return np.concatenate([content, out[after:]])

    def places(self, number: int, until: int) -> Ints:
        """The local positions of the first samples that a flow yields, in order; it began with an empty buffer."""
        flow = self._flows[number]
        assert isinstance(flow.source.deals, tuple)  # no end, no epoch that a buffer is lost in
        begin, length = flow.position, int(flow.source.deals[0].lengths[flow.source.reader])
        ahead = int(self.buffer.pulled(np.array(until), np.array(0)))
        coming = np.arange(begin, min(length, begin + ahead))
        return self.buffer.play(coming[:0], coming, until, self._rng(flow))[0]

    def _part(self, source: Source, start: int, stop: int | None = None) -> Ints:
        """The samples at local positions [start, stop) of a part, or from `start` to its end."""
        pieces, begin = [np.zeros(0, np.int64)], 0
        for later, deal in enumerate(source.deals):
            if stop is not None and begin >= stop:
                break
            length = int(deal.lengths[source.reader])
            low, high = max(start - begin, 0), length if stop is None else min(stop - begin, length)
            begin += length
            if low >= high:
                continue
            if isinstance(deal, Listed):
                pieces.append(deal.read(source.reader, low, high))
                continue
            offsets = deal.offsets(source.reader, low, high)
            epoch = source.epoch if source.same else source.epoch + later
            pieces.append(self._order.samples_at(source.family, epoch, offsets))
        return np.concatenate(pieces)

    def _play(self, number: int, until: int | None) -> tuple[Ints, Ints]:
        flow = self._flows[number]
        stop = None
        if isinstance(flow.source.deals, Endless):
            assert until is not None
            stop = flow.position + until + 2 * self.buffer.size  # no buffer pulls further ahead
        coming = self._part(flow.source, flow.position, stop)
        held = coming[:0] if flow.before < 0 else self.held(flow.before, flow.after, flow.ahead)
        return self.buffer.play(held, coming, until, self._rng(flow), flow.ready)

    def _rng(self, flow: Flow) -> np.random.Generator:
        source = flow.source
        if self._one_seed:
            shuffled_before = flow.after if flow.before >= 0 else 0
            about = (source.family, source.epoch, source.attempt, shuffled_before)
            return streams.generator(*self._order.drawn_by, "one buffer seed", *about)
        readers = 0 if self.buffer.kind == "window" else source.readers  # a window is the same on other ranks
        names = (source.family, source.epoch, readers, source.reader, source.attempt)
        before = (flow.position, flow.before, flow.after)
        return streams.generator(*self._order.drawn_by, "buffer", *names, *before)
