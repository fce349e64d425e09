"""Simulates large training jobs that fail and restart, and counts which data the final model saw."""
