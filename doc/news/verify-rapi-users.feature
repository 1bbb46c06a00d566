``gnt-cluster verify`` compares the users, roles and tokens of the Remote API on all nodes, and tells of files that only some nodes have and the
master has not.
