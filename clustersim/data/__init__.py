"""What there is to read, and in which order: corpus, shards, orders. Knows no clock."""
