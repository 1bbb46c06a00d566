"""A simulated cluster in bad luck: faults from a seed that replays exactly, and what must be true all the same."""
