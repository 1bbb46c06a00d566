"""Commands about the cluster."""
