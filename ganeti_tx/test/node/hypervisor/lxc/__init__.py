"""The LXC driver."""
