"""Commands about instances."""
