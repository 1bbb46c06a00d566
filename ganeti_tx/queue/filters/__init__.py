"""Which jobs the cluster's filter rules let start."""
