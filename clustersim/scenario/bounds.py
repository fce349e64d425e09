"""What a scenario may not exceed, so that times and counts fit 64 bits, memory suffices and a run comes to its end."""

from clustersim.scenario.checkpoint import Checkpoint
from clustersim.scenario.errors import wrong
from clustersim.scenario.job import Run
from clustersim.scenario.quantities import LIMIT
from clustersim.scenario.sizes import Sizes

_LONGEST = "2^62 ns (146 years)"
# Each failure is simulated: a run of 10 M failures takes some minutes.
_MOST_FAILURES = 2 * 10**7
# Counting sample by sample holds an integer a sample, and goes through each view.
_MOST_IDENTITY_SAMPLES, _MOST_IDENTITY_VIEWS = 10**8, 10**9


def check_bounds(run: Run, checkpoint: Checkpoint, sizes: Sizes) -> None:
    """Raise the error of a validator, with its key, for the first bound that a scenario exceeds."""
    if sizes.full_step_ns < 2:
        raise wrong(
            "a step of at least 2 ns, as a failure may strike in its middle", f"{sizes.full_step_ns} ns", "model"
        )
    if sizes.full_step_ns > LIMIT:
        raise wrong(f"a step of at most {_LONGEST}", _times_limit(sizes.full_step_ns), "model")
    if sizes.samples >= LIMIT:
        raise wrong("an epoch of fewer than 2^62 samples", f"{sizes.samples:.3g}", "data")
    if sizes.limit_ns > LIMIT:
        raise wrong(f"a time limit of at most {_LONGEST}", _times_limit(sizes.limit_ns), "run")
    positions = sizes.batches.before(max(sizes.steps or 0, _steps_until_limit(sizes)))
    if positions >= LIMIT:
        raise wrong("fewer than 2^62 samples within the run's limit", f"{positions:.3g}", "run")
    failures = (sizes.failures_per_ns + sizes.slow_per_ns) * sizes.limit_ns
    if failures > _MOST_FAILURES:
        raise wrong(
            f"at most {_MOST_FAILURES:.0e} random failures within the run's limit", f"{failures:.3g}", "failures"
        )
    _check_interval(checkpoint, sizes)
    if run.account == "identity":
        _check_identity(sizes)


def _check_interval(checkpoint: Checkpoint, sizes: Sizes) -> None:
    # The latest save of a leg is durable this long after the run's limit, so that both together fit 63 bits.
    step_ns = sizes.step_ns(sizes.min_data)
    everies = {"checkpoint.every": sizes.steps_between_saves(step_ns)}
    everies |= {f"checkpoint.tiers.{i}.every": tier.every.steps_of(step_ns) for i, tier in enumerate(checkpoint.tiers)}
    for (key, steps), medium in zip(everies.items(), (checkpoint, *checkpoint.tiers), strict=True):
        write_ns = medium.write_ns(sizes.checkpoint_bytes, sizes.nodes(sizes.min_data))
        longest_ns = steps * step_ns + medium.stall + write_ns
        if longest_ns >= LIMIT:
            expected = f"less than {_LONGEST} until a checkpoint is durable, with as few replicas as min_data"
            raise wrong(expected, _times_limit(longest_ns), key)


def _check_identity(sizes: Sizes) -> None:
    if sizes.samples > _MOST_IDENTITY_SAMPLES:
        expected = f"at most {_MOST_IDENTITY_SAMPLES:.0e} samples an epoch to count each of them"
        raise wrong(expected, f"{sizes.samples:.3g}", "run.account")
    views = sizes.batches.before(_steps_until_limit(sizes) if sizes.steps is None else sizes.steps)
    if views > _MOST_IDENTITY_VIEWS:
        expected = f"at most {_MOST_IDENTITY_VIEWS:.0e} planned views to count them sample by sample"
        raise wrong(expected, f"{views:.3g}", "run.account")


def _steps_until_limit(sizes: Sizes) -> int:
    return -(-sizes.limit_ns // sizes.full_step_ns)


def _times_limit(duration_ns: int) -> str:
    return f"{duration_ns / LIMIT:.3g} times that"
