"""A literal loader: a plain iterator over sample ids, one by one, with real state dictionaries. Slow and obvious."""


class LiteralLoader:
    """Reads the run's order epoch after epoch; `order_of(family, epoch)` is the list of an epoch's samples."""

    def __init__(self, order_of, saves, comes_back, lasts="epoch", edge="new", ahead=0, order_epoch="own"):
        self.order_of, self.saves, self.comes_back, self.lasts, self.edge = order_of, saves, comes_back, lasts, edge
        self.ahead, self.order_epoch = ahead, order_epoch  # samples fetched ahead and counted; the epoch in the seed
        self.epoch, self.index, self.family, self.forgot_epoch = 0, 0, 0, False

    def epoch_samples(self):
        return self.order_of(self.family, 0 if self.forgot_epoch else self.epoch)

    def __next__(self):
        sample = self.epoch_samples()[self.index]
        self.index += 1
        if self.index == len(self.epoch_samples()):
            self.epoch, self.index, self.forgot_epoch = self.epoch + 1, 0, False
            if self.lasts == "epoch":
                self.family = 0
        return sample

    def state_dict(self):
        fetched = min(self.index + self.ahead, len(self.epoch_samples())) if self.index else 0
        state = {"epoch": self.epoch, "index": fetched}
        if self.index == 0 and self.epoch > 0 and self.edge == "old":
            state = {"epoch": self.epoch - 1, "index": len(self.order_of(0, self.epoch - 1))}
        if self.saves == "samples":
            return state | {"finished": self.index == 0 and self.epoch > 0 and self.edge == "finished"}
        if self.saves == "epoch":
            return {"epoch": state["epoch"]}
        return {}

    def come_back(self, state, restart):
        """What the loader does when the job restarts for the n-th time with what the checkpoint kept."""
        if self.comes_back == "continue":
            return
        self.family, self.forgot_epoch = 0, False
        if self.comes_back == "restart-run":
            self.epoch, self.index = 0, 0
        elif self.comes_back == "restart-epoch":
            self.epoch, self.index = state["epoch"], 0
        elif self.comes_back == "next-epoch":
            begins = state.get("index") == 0
            self.epoch, self.index = state["epoch"] + (0 if begins else 1), 0
        elif state["finished"]:
            self.epoch, self.index = state["epoch"] + 1, 0  # the epoch that began gets nothing
        elif state["index"] == len(self.order_of(0, state["epoch"])):
            self.epoch, self.index = state["epoch"] + 1, 0
        else:
            self.epoch, self.index = state["epoch"], state["index"]
            self.family = restart if self.comes_back == "reshuffle" else 0
            self.forgot_epoch = self.order_epoch == "first"


def train(loader, batch, attempts):
    """Play attempts (start, stop, read) of a job: the batches that the final model is made of, a list by step.

    Every attempt but the first comes back from the checkpoint of its first step; batches from there on are forgotten.
    """
    model, checkpoints = [], {0: loader.state_dict()}
    for restart, (start, stop, read) in enumerate(attempts):
        if restart:
            loader.come_back(checkpoints[start], restart)
            del model[start:]
        for step in range(start, read):
            rows = [next(loader) for _ in range(batch)]
            if step < stop:
                model.append(rows)
                checkpoints[step + 1] = loader.state_dict()
    return model
