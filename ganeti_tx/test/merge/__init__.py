"""cluster-merge."""
