"""A cluster in one process on a simulated clock."""
