"""Counting what happens: what is counted, the counts of one process, and how they travel, add up and are shown."""
