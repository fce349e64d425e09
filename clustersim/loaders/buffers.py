"""Shuffle buffers: how far ahead a reader has pulled when it has yielded so much, and what it yields in which order.

| classic | one sample out at random, one in; it starts when the buffer is full |
| lazy | the same, but the one comes in only when the next one is asked for |
| half-flush | when the buffer is full, half of it goes out in random order; then it fills up again |
| window | when the buffer is full, all of it goes out in random order; a position counts what went out |
| chunk | so many samples are read at once and go out as they lie |

What is left when the source ends goes out in random order.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
BufferKind = Literal["classic", "lazy", "half-flush", "window", "chunk"]


@dataclass(frozen=True)
class Buffer:
    """A buffer of `size` samples; 0: none."""

    size: int
    kind: BufferKind = "classic"

    def pulled(self, yielded: Ints, held: Ints, ready: Ints | int = 0) -> Ints:
        """Samples pulled, int64, by readers that have yielded so many since they held `held`, of an endless source.

        Of what they held `ready` samples went out first, as they lay, and nothing was pulled for them.
        """
        mixed = yielded - ready
        if self.kind == "classic":
            ahead = mixed + self.size
        elif self.kind == "lazy":
            ahead = mixed + self.size - 1
        elif self.kind in ("window", "chunk"):
            ahead = -(-mixed // self.size) * self.size
        else:
            flush = self.size - self.size // 2
            ahead = self.size + (-(-mixed // flush) - 1) * flush
        return np.where((mixed > 0) & (self.size > 0), ahead - (held - ready), np.where(mixed > 0, mixed, 0))

    def ready(self, yielded: Ints, held: Ints, ready: Ints, source: Ints, holds: Ints) -> Ints:
        """How many of the samples that it holds go out as they lie, before anything is pulled for them; int64.

        It has yielded so many since it held `held`, `ready` of them ready, with `source` to pull. It holds `holds`.
        """
        if self.kind in ("classic", "lazy"):
            return np.zeros_like(yielded)
        if self.kind == "chunk":
            return holds
        was_full = self.pulled(yielded, held, ready) <= source
        flushed = np.where(was_full, (ready - yielded) % (self.size - self.size // 2), holds)
        return np.where(yielded <= ready, ready - yielded, flushed)

    def ages(self, yielded: Ints, tiers: int) -> tuple[Ints, NDArray[np.float64]]:
        """How far behind the last sample that it has pulled lies what a buffer holds, on average.

        A classic buffer still holds the sample that came in a samples ago with the chance (1 - 1/B)^(a - 1), and one of
        its first fill after y samples with (1 - 1/B)^y. A half-flush one keeps s of B samples at each flush, any of
        them: (s/B)^k after k of them.

        Args:
            yielded: samples that have come out of each buffer, int64[readers].
            tiers: into how many tiers of ages it is divided; a last one is the first fill.

        Returns:
            the bounds of the tiers, rising from 0, int64[tiers + 2, readers], and the share of what is held that lies
            in each, float64[tiers + 1, readers]. The few that are older are taken for the others.
        """
        if self.kind in ("classic", "lazy"):
            unit, turnover, kept, first = 1, float(self.size), 1 - 1 / self.size, yielded
        else:
            unit = self.size - self.size // 2
            turnover, kept, first = 1 / np.log(2), self.size // 2 / self.size, np.maximum(-(-yielded // unit) - 1, 0)
        # Narrower where more is held; beyond the last bound lies less than e^-6 of a tier's share.
        stretched = -2 * turnover * np.log1p(-np.arange(tiers) / tiers)
        oldest = int(np.ceil(turnover * (np.log(tiers) + 6)))
        bounds = np.minimum(np.append(np.ceil(stretched), oldest).astype(np.int64)[:, None], np.minimum(first, oldest))
        left = np.power(kept, bounds.astype(np.float64))
        in_reach = first <= oldest
        shares = np.concatenate((left[:-1] - left[1:], np.where(in_reach, left[-1], 0)[None, :]))
        end = bounds[-1] * unit + np.where(in_reach, self.size, 0)
        return np.concatenate((bounds * unit, end[None, :])), shares / shares.sum(axis=0)

    def play(
        self, held: Ints, source: Ints, until: int | None, rng: np.random.Generator, ready: int = 0
    ) -> tuple[Ints, Ints]:
        """What comes out, one after another, and what the buffer holds then; int64.

        Args:
            held: what it holds at first.
            source: what can be pulled.
            until: stop when so many have come out; None: at the end.
            rng: the stream of random numbers.
            ready: how many of those that it holds at first, the last ones, go out first and as they lie.
        """
        until = len(held) + len(source) if until is None else until
        if ready:
            mixed, first = held[:-ready], held[-ready:]
            if until <= ready:
                return first[:until], np.concatenate([mixed, first[until:]])
            later, holds = self.play(mixed, source, until - ready, rng)
            return np.concatenate([first, later]), holds
        if self.size == 0:
            return source[:until], held
        if self.kind == "chunk":
            return source[:until], source[until : -(-until // self.size) * self.size]
        if self.kind not in ("classic", "lazy"):
            return self._play_flushes(held, source, until, rng)
        content = [*held.tolist(), *source[: max(0, self.size - len(held))].tolist()]
        coming = source[max(0, self.size - len(held)) :].tolist()
        if until == 0:
            return source[:0], held
        out, slot = [], 0
        slots = rng.integers(0, self.size, size=len(coming)).tolist()
        for sample, slot in zip(coming[:until], slots, strict=False):
            out.append(content[slot])
            content[slot] = sample
        if len(out) == until:
            if self.kind == "lazy":
                del content[slot]  # what would come in has not been asked for
            return np.array(out, dtype=np.int64), np.array(content, dtype=np.int64)
        rest = rng.permutation(np.array(content, dtype=np.int64))
        left = until - len(out)
        return np.concatenate([np.array(out, dtype=np.int64), rest[:left]]), rest[left:]

    def _play_flushes(self, content: Ints, source: Ints, until: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
        stays = self.size // 2 if self.kind == "half-flush" else 0
        at, out, done = 0, [source[:0]], 0
        while done < until:
            pulled = source[at : at + self.size - len(content)]
            at += len(pulled)
            content = rng.permutation(np.concatenate([content, pulled]))
            full = len(content) == self.size
            flushed, content = (content[stays:], content[:stays]) if full else (content, content[:0])
            out.append(flushed)
            done += len(flushed)
        went = np.concatenate(out)
        return went[:until], np.concatenate([content, went[until:]])
