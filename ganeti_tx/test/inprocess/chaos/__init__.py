"""A simulated cluster under faults from a seed that replays exactly, and what must be true all the same."""
