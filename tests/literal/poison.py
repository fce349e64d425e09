"""Poison, met by reading every batch of every leg: where a job must crash, and what it trains on."""

from collections import Counter


class Victim:
    """A job that goes through the legs of a history with poison in its data; a batch is a list of sample ids."""

    def __init__(self, poison, together, retries, act, batch):
        """`poison`: the samples; `together` of them in a batch crash it; `act` is done after `retries` in vain."""
        self._poison, self._together, self._retries, self._act = set(poison), together, retries, act
        self._batch, self._skipped, self._gone = batch, set(), set()
        self._trials = []  # the steps at which those of searches are still to crash; the next one is the last
        self.crashes, self.acted = [], 0  # the steps that crashed, trials apart; how often something was done
        self.model = []  # what each step trained on, of those that have not been rolled back

    def live(self, leg, batches):
        """Go through a leg, of which `batches` has those from its start to what it has read."""
        del self.model[leg.start :]
        deadly = None
        for step, batch in enumerate(batches, leg.start):
            met = [x for x in batch if x in self._poison and x not in self._gone]
            if deadly is None and len(met) >= self._together and step not in self._skipped:
                deadly = step, met
            if step < leg.stop:
                self.model.append([] if step in self._skipped else [x for x in batch if x not in self._gone])
        assert deadly is None or leg.stop <= deadly[0], "it should have crashed"
        assert not self._trials or leg.stop <= self._trials[-1], "it should have been tried"
        if leg.ended_by != "poison":
            return
        if self._trials and leg.stop == self._trials[-1]:
            self._trials.pop()
        else:
            assert deadly is not None
            assert leg.stop == deadly[0]
            self._crash(*deadly)

    def _crash(self, step, met):
        self.crashes.append(step)
        if Counter(self.crashes)[step] <= self._retries:
            return
        self.acted += 1
        if self._act == "skip-batch":
            self._skipped.add(step)
        else:
            self._gone |= set(met)
        if self._act == "bisect":
            left = self._batch
            while left > 1:
                self._trials.append(step)
                left -= left // 2
