"""A disk's bytes on their way from one node to another: a process for each end, which the node daemon starts."""
