"""What the samples are read from: stores, access patterns, whether they keep up, and the wait for a step's data."""
