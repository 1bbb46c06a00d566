"""Commands about debugging."""
