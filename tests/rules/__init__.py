"""What a restart costs, as closed forms: rules 1 to 17, each with the points at which it is asked of the model."""

from rules import buffers, epochs, miscounts, positions, shares, whole_input

__all__ = ["RULES"]

RULES = [
    *positions.RULES,
    *epochs.RULES,
    *buffers.RULES,
    *whole_input.RULES,
    *shares.RULES,
    *miscounts.RULES,
]
