"""The counts, how they add up, and their page."""
