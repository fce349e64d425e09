"""Nodes that fail, are repaired and wait as spares. Knows time; knows no job, no checkpoint and no sample."""
