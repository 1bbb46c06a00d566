"""The agent inside a guest."""
