"""gnt-network."""
