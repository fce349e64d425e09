"""The job in simulated time: steps, checkpoints, recovery, elastic degree, and where the time went."""
