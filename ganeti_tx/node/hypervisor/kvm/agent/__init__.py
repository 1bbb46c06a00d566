"""The agent inside a guest, whom nobody trusts."""
