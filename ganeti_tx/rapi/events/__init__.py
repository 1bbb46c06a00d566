"""The stream of the cluster's events."""
