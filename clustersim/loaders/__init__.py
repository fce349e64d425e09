"""Who reads what: what a loader delivers, saves and does when the job comes back. Knows no clock."""
