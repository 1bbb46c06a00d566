``gnt-cluster verify`` warns of nodes that have power though recorded is that they have none, or the reverse, where an out-of-band program
knows (``oob_program``); it tells of nodes that do not reach the cluster's address, and of nodes in the map of candidates'
certificates that are none. ``doc/verify-codes.rst`` has each code with faults that produce it.
