"""The grids of the rules notice when the model is wrong: a term is dropped or changed, and the rule no longer holds."""

import ast
import importlib
import inspect
import textwrap

import pytest
from rules import RULES

SEQUENCE = "loaders.sequence:SequenceLoader"
READERS = "loaders.readers:Readers"
LOADER = "loaders.returning:ReaderLoader"
BUFFER = "loaders.buffers:Buffer"
# The rule that has to notice; where the term is; the term, as `ast.unparse` spells it; and what is there instead.
MUTATIONS = [
    ("1 a position in samples", f"{SEQUENCE}._back_to_position", "Position(samples, ranks, family",
     "Position(0, ranks, family"),
    ("1 a position in samples", f"{SEQUENCE}._batches_to", "// self.batch", "// self.batch + 1"),
    ("1 a position in samples", f"{SEQUENCE}.advance", "steps * self.batch", "(steps - 1) * self.batch"),
    ("1 what is unread in a new order", "loaders.remainder:RemainderSpaces.samples_at", "offsets >= cut",
     "offsets > cut"),
    ("1 what is unread in a new order", f"{SEQUENCE}._back_to_position", "Remainder(saved.family, into_epoch, leg)",
     "Remainder(saved.family, 0, leg)"),
    ("1 batches skipped", f"{LOADER}._back", "self._by_rank(at.counted, ranks)",
     "self._by_rank(at.counted * at.ranks // ranks, ranks)"),
    ("1 a tail dropped", f"{READERS}._left", "samples // batch if", "-(-samples // batch) if"),
    ("1 a tail padded", "loaders.deal:_lengths", "-(-size // (readers * multiple))", "size // (readers * multiple)"),
    ("1 a tail dropped", f"{READERS}._lengths", "self.deal(at).lengths", "(self.deal(at).lengths + 1)"),
    ("1 parts that share the position of all", f"{LOADER}._on_ranks", "// fresh.read.size", "// at.read.size"),
    ("2 steps of today's batches", f"{LOADER}._back", "at.step // each", "at.epoch"),
    ("2 steps of today's batches", f"{LOADER}._back", "at.step % each", "at.counted.max()"),
    ("2 steps of today's batches", f"{READERS}.rank_batches", "'constant'", "'share'"),
    ("3 a position of each rank", f"{LOADER}._on_ranks", "'reshard'", "'keep'"),
    ("3 a position of each rank", f"{LOADER}._on_ranks", "self._by_rank(at.read, ranks)",
     "self._by_rank(0 * at.read, ranks)"),
    ("3 the same in its budget", f"{LOADER}._on_ranks", "'reshard'", "'keep'"),
    ("3 an endless stream", f"{READERS}._lengths", "2 ** 62", "self.size"),
    ("3 an endless stream", "loaders.passes:Pass.epochs", "(self._order_of(epoch), low, high, origin)",
     "(self.epoch, low, low, origin)"),
    ("3 snapshots", f"{READERS}._deliver", "counted // every * every", "counted"),
    ("3 runs", "loaders.deal:Contiguous.starts", "np.cumsum(lengths) - lengths", "np.zeros_like(lengths)"),
    ("3 parts permuted alone", f"{LOADER}._on_ranks", "'reshard'", "'keep'"),
    ("4 the epoch restarted", f"{SEQUENCE}.resume", "self._epoch(saved) * self.size", "saved.epoch * 0"),
    ("4 the same for parts of the ranks", f"{LOADER}.resume", "self._begin(at, at.epoch, ranks)",
     "self._begin(at, at.epoch + 1, ranks)"),
    ("4 restarted two or three times", f"{SEQUENCE}.save", "at.samples // self.size", "0 * at.samples"),
    ("4 in the budget, last epoch", f"{SEQUENCE}.resume", "self._epoch(saved) * self.size", "saved.epoch * 0"),
    ("4 in the budget, one order", "data.orders:Shuffle.key_of", "0 if self.same_every_epoch else epoch", "epoch"),
    ("4 in the budget, other orders", "data.orders:Shuffle.key_of", "0 if self.same_every_epoch else epoch", "0"),
    ("5 the run restarted", f"{SEQUENCE}.resume", "Position(0, ranks)", "Position(self.batch, ranks)"),
    ("5 the same for parts of the ranks", f"{LOADER}.resume", "self.start(ranks)",
     "self._begin(at, at.epoch, ranks)"),
    ("6 a new order", f"{SEQUENCE}._back_to_position", "leg if", "1 if"),
    ("6 a new order", "data.orders:Shuffle.key_of", "np.array([family])", "np.array([0])"),
    ("6 as many twice as never", f"{SEQUENCE}._back_to_position", "Position(samples, ranks, family",
     "Position(samples - self.batch, ranks, family"),
    ("6 the order of epoch 0", f"{SEQUENCE}._back_to_position", "0 if self.parts.order_epoch == 'first' else None",
     "None"),
    ("6 the order of epoch 0", "loaders.draws:draws_of", "pieces[0]['epoch'] = order_epoch", "pass"),
    ("6 the permutations of other ranks", "loaders.part_order:PartOrder.samples_at",
     "permutation(high - low).forward(offsets[inside] - low, key)", "(offsets[inside] - low)"),
    ("7 fetched ahead of all", f"{SEQUENCE}._counted", "self.parts.prefetch * self.batch", "self.batch"),
    ("7 fetched ahead of all", f"{SEQUENCE}._counted", "self.size - into_epoch", "self.size"),
    ("7 fetched ahead of each rank", f"{LOADER}.save", "self.parts.prefetch * ", "2 * "),
    ("8 a classic buffer", f"{BUFFER}.pulled", "ahead = mixed + self.size", "ahead = mixed"),
    ("8 a classic buffer", f"{BUFFER}.pulled", "(mixed > 0) & (self.size > 0)", "mixed >= 0"),
    ("8 two or three times", "loaders.turns:turns", "(np.arange(workers) - turn[:, None]) % workers",
     "np.arange(workers) + 0 * turn[:, None]"),
    ("8 half flushed", f"{BUFFER}.pulled", "self.size - self.size // 2", "self.size // 2 + 1"),
    ("8 half flushed", f"{BUFFER}.pulled", "-(-mixed // flush) - 1", "-(-mixed // flush)"),
    ("8 a chunk", f"{BUFFER}.pulled", "-(-mixed // self.size) * self.size", "mixed // self.size * self.size"),
    ("8 a window", f"{READERS}.__init__", "parts.buffer_kind != 'window'", "True"),
    ("8 one stream for all ranks", f"{BUFFER}.pulled", "ahead = mixed + self.size",
     "ahead = mixed + 2 * self.size"),
    ("8 two or three times", f"{LOADER}.save", "read=pulled, base=pulled", "read=at.read, base=at.base"),
    ("8 by age on other ranks", f"{BUFFER}.play", "rng.integers(0, self.size, size=len(coming))",
     "(np.arange(len(coming)) % self.size)"),
    ("8 by age on other ranks", f"{BUFFER}.play", "rng.integers(0, self.size, ",
     "rng.integers(0, self.size // 2 + 1, "),
    ("8 in all on other ranks", f"{LOADER}._on_ranks", "'reshard'", "'keep'"),
    ("9 a saved buffer", f"{LOADER}.save", "not held", "True"),
    ("9 half flushed", f"{LOADER}.save", "not held", "True"),
    ("9 by age on fewer ranks", f"{BUFFER}.play", "rng.integers(0, self.size, size=len(coming))",
     "(np.arange(len(coming)) % self.size)"),
    ("9 in all on fewer ranks", f"{LOADER}._on_ranks", "'reshard'", "'keep'"),
    ("9 on more ranks", f"{LOADER}._on_ranks", "if self.parts.buffer_saved", "if False"),
    ("9 on more ranks", "loaders.carried:CarriedBuffers.add", "np.nonzero(held)", "np.nonzero(held[:1])"),
    ("9 all read by each", f"{BUFFER}.pulled", "mixed + self.size - 1", "mixed + self.size - 2"),
    ("9 all read by each", f"{LOADER}._fetched", "range(self.parts.prefetch", "range(0"),
    ("9 all read by each", f"{LOADER}._in_the_input", "(pulled - 1) * at.ranks", "(pulled - 1) * ranks"),
    ("9 all read by each", f"{READERS}._next_batches", "at.ahead[:, 0] > 0", "at.ahead[:, 0] < 0"),
    ("10 shards in progress again", f"{LOADER}._requeued", "== 'again'", "== 'skip'"),
    ("10 shards in progress again", "loaders.queued:Queued.after", "[doing, todo]", "[doing[:1], todo]"),
    ("10 shards in progress again", "loaders.queued:Queued.after", "read < self._whole", "read <= self._whole"),
    ("10 shards in progress again", "loaders.queued:_takers", "passed[reader] // each[reader]", "step + 1"),
    ("10 shards in progress skipped", f"{LOADER}._requeued", "== 'again'", "== 'skip'"),
    ("10 shards in progress skipped", "loaders.queued:Queued.after", "self._taken_in >= steps",
     "self._taken_in > steps"),
    ("11 divided anew", "loaders.listed:redivided", "% (ranks * workers * batch)", "% (ranks * batch)"),
    ("11 divided anew", f"{LOADER}._redivided", "self.parts.last_batch == 'drop'", "False"),
    ("11 rounded down", "loaders.listed:redivided", "position - position % (ranks * batch)", "position"),
    ("11 divided anew", f"{LOADER}._redivided", "count > self.size // ranks", "count > self.size // ranks + 1"),
    ("12 the loop counts on", f"{LOADER}.resume", "counted=begun.counted + at.counted.max()", "counted=begun.counted"),
    ("12 the loop counts on", f"{READERS}._steps_of_epoch", "min(left, whole - int(at.counted.max()))", "left"),
    ("12 the same for parts", f"{LOADER}.resume", "counted=begun.counted + at.counted.max()", "counted=begun.counted"),
    ("13 counted twice", f"{LOADER}._back", "'doubled': 2", "'doubled': 1"),
    ("13 one rank's count for all", f"{READERS}.advance", "self.batch // at.ranks", "self.batch"),
    ("14 never drawn", "data.orders:WithReplacement.drawn", "family, epoch, reader)", "0, 0, reader)"),
    ("14 never drawn", "data.orders:WithReplacement.drawn", "draw.integers(len(self._sizes), ",
     "draw.integers(len(self._sizes) // 2, len(self._sizes), "),
    ("14 drawn too often", "data.orders:WithReplacement.drawn", "draw.integers(len(self._sizes), ",
     "draw.integers(len(self._sizes) // 2, len(self._sizes), "),
    ("14 drawn too often", "loaders.dealer:Dealer._deal", "-(-order.size // readers)", "order.size"),
    ("14 drawn too often", f"{LOADER}.resume", "self._begin(at, at.epoch, ranks, leg)", "at"),
    ("15 padded to ranks", "loaders.deal:_lengths", "-(-size // (readers * multiple))", "size // (readers * multiple)"),
    ("15 padded to batches", "loaders.dealer:Dealer.deal", "int(batches.max())", "1"),
    ("15 dropped by ranks", "loaders.deal:_lengths", "uneven == 'drop'", "uneven == 'pad'"),
    ("15 dropped by batches", f"{READERS}._left", "samples // batch if", "-(-samples // batch) if"),
    ("15 others padded", "loaders.deal:_lengths", "-(-size // (readers * multiple))", "size // (readers * multiple)"),
    ("15 others dropped", f"{READERS}._left", "samples // batch if", "-(-samples // batch) if"),
    ("15 left uneven", f"{READERS}._steps_of_epoch", ".min()", ".max()"),
    ("15 left uneven", "loaders.deal:_lengths", "< longer", "< 0"),
    ("15 ranks of two widths", "loaders.split:rank_slices", "min(rank, longer)", "rank * bool(longer)"),
    ("15 ranks of two widths", f"{READERS}._read", "[:, None], ends)", "[:, None], ends.max())"),
    ("15 canonical runs", "loaders.listed:canonical", "-len(run) % ranks", "0"),
    ("16 it is of the old epoch", f"{SEQUENCE}.save", "edge == 'old'", "False"),
    ("16 it is of the old epoch", f"{LOADER}.save", "'old'", "'new'"),
    ("16 it is of the new epoch", f"{SEQUENCE}.save", "edge == 'old'", "True"),
    ("16 it is of the new epoch", f"{LOADER}.save", "'old'", "'new'"),
    ("16 a position, old", f"{SEQUENCE}.save", "self._counted(at.samples) if",
     "self._counted(at.samples) - on_edge if"),
    ("16 it ends the new epoch", f"{SEQUENCE}._back_to_position", "saved.samples + self.size", "saved.samples"),
    ("16 it ends the new epoch", f"{LOADER}.save", "edge == 'finished'", "False"),
    ("17 an offset applied again", f"{READERS}._after", "begun.read + at.skipped", "begun.read"),
    ("17 an offset applied again", f"{LOADER}._back", "max(at.skipped, ", "min(at.skipped, "),
    ("17 ranks without a state", f"{LOADER}._by_rank", "np.zeros_like(values[:1])", "values[:1]"),
    ("17 ranks without a state", f"{READERS}._steps_of_epoch", ".min()", ".max()"),
    ("17 other ranks refused", f"{LOADER}.resume", "ranks != at.ranks", "ranks > at.ranks"),
    ("17 other ranks refused", f"{SEQUENCE}.resume", "ranks != saved.ranks", "ranks > saved.ranks"),
    ("17 new ranks refused", f"{LOADER}.resume", "parts.missing_state == 'refuse'", "False"),
]  # fmt: skip
BY_NAME = {rule.name: rule for rule in RULES}


def mutate(monkeypatch, where, term, other):
    """Put `other` for a term of a function of the model, for all that call it."""
    module, _, path = where.partition(":")
    module = importlib.import_module(f"clustersim.{module}")
    *owner, name = path.split(".")
    found = inspect.getattr_static(getattr(module, owner[0]) if owner else module, name)
    wrapped = (getattr(found, kind, None) for kind in ("fget", "func", "__func__"))
    function = next((each for each in wrapped if each), found)
    (stated,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    stated.decorator_list = []
    source = ast.unparse(stated)
    assert term in source, f"{where} no longer has {term}: name another term of it"
    made = {}
    exec(source.replace(term, other), vars(module), made)
    monkeypatch.setattr(function, "__code__", made[name].__code__)


@pytest.mark.parametrize(
    ("rule", "where", "term", "other"),
    [pytest.param(*each, id=f"{each[0]}-{each[1].rpartition(':')[2]}-{k}") for k, each in enumerate(MUTATIONS)],
)
def test_a_wrong_term_is_noticed(rule, where, term, other, monkeypatch):
    mutate(monkeypatch, where, term, other)
    with pytest.raises(AssertionError, match=r"by the rule|standard errors|not what is certain"):
        BY_NAME[rule].check(BY_NAME[rule].points)


def test_a_term_of_each_rule_is_tried():
    assert {rule for rule, *_ in MUTATIONS} == set(BY_NAME)
