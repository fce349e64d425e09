"""webdataset: tar files split by node, without any state."""

import io
import tarfile

import webdataset as wds
from conformance import torchrun


def shard_files(seat):
    """The corpus as tar files, written by whoever comes first."""
    folder = seat.folder / f"tar-{seat.corpus.samples}"
    files = [folder / f"{index:04d}.tar" for index in range(seat.corpus.shards)]
    if not folder.exists():
        folder.mkdir()
        for file, samples in zip(files, seat.corpus.shard_samples, strict=True):
            with tarfile.open(file, "w") as tar:
                for sample in samples:
                    text = str(sample).encode()
                    entry = tarfile.TarInfo(f"{sample:06d}.txt")
                    entry.size = len(text)
                    tar.addfile(entry, io.BytesIO(text))
    return [str(file) for file in files]


class WithoutState:
    """Shards in an order of the epoch's own, split by node, behind a shuffle buffer of 64."""

    def __init__(self, seat, state):
        self.seat = seat

    def pipeline(self, epoch):
        return wds.DataPipeline(
            wds.SimpleShardList(shard_files(self.seat)),
            wds.detshuffle(seed=self.seat.corpus.seed, epoch=epoch - 1),
            wds.split_by_node,
            wds.tarfile_to_samples(),
            wds.detshuffle(64, seed=self.seat.corpus.seed, epoch=epoch - 1),
            wds.decode(),
            wds.to_tuple("txt"),
            wds.batched(self.seat.batch, collation_fn=lambda rows: [int(row[0]) for row in rows]),
        )

    def batches(self, epoch):
        yield from torchrun.each_as(self.seat, iter(self.pipeline(epoch)))

    def state(self):
        return None
