"""mosaicml-streaming: a StreamingDataset over MDS shards, resumed by the samples that were trained of the epoch."""

import shutil
from unittest.mock import patch

from conformance import torchrun
from streaming import MDSWriter, StreamingDataset
from torch.utils.data import DataLoader


def shard_files(seat):
    """The corpus as MDS shards, written by whoever comes first."""
    folder = seat.folder / f"mds-{seat.corpus.samples}"
    if not folder.exists():
        with MDSWriter(out=str(folder), columns={"sample": "int32"}, size_limit=2048) as out:
            for sample in range(seat.corpus.samples):
                out.write({"sample": sample})
    return folder


class Elastic:
    """Shuffled by the shards, with 12 canonical nodes."""

    algorithm = "py1e"

    def __init__(self, seat, state):
        self.seat, self.trained = seat, 0
        folder = shard_files(seat)
        mine = seat.folder / f"rank-{seat.corpus.samples}-{seat.ranks}-{seat.rank}"
        if not mine.exists():
            shutil.copytree(folder, mine)
        torchrun.become(seat)
        # There is no other process to meet: each rank is a node of its own, with its own copy of the files.
        with patch("streaming.base.dataset.maybe_init_dist", return_value=False):
            self.data = StreamingDataset(
                local=str(mine),
                shuffle=True,
                shuffle_algo=self.algorithm,
                shuffle_seed=seat.corpus.seed,
                num_canonical_nodes=12,
                batch_size=seat.batch,
            )
        if state is not None:
            self.data.load_state_dict(state)
        self.loader = DataLoader(self.data, batch_size=seat.batch, num_workers=0)

    def batches(self, epoch):
        torchrun.become(self.seat)
        self.trained = 0
        for batch in torchrun.each_as(self.seat, iter(self.loader)):
            self.trained += 1
            yield batch["sample"].tolist()

    def state(self):
        torchrun.become(self.seat)
        return self.data.state_dict(self.trained * self.seat.corpus.batch, False)
