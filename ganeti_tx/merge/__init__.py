"""cluster-merge: another cluster's nodes and instances become this one's (doc/design/cluster-merge.rst)."""
