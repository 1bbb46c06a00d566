"""Commands about node groups."""
