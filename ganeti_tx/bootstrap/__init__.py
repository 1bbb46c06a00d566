"""What must be done before there is a daemon to ask: the first node of a cluster, a node that joins, the end of both."""
