"""Node RPC: the one table of calls that both ends read, and its client."""
