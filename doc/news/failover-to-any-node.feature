A mirrored instance goes to a node that has no copy of its disks in one operation: ``gnt-instance failover -n NEW --secondary-node KEPT``, where KEPT
is which of its two nodes keeps its copy; ``--wait-for-sync`` starts it when the new node has everything instead of at once. ``gnt-instance migrate``
takes ``--secondary-node``, too, if that is its present primary node. Parameters ``secondary_node`` and ``wait_for_sync`` of the opcodes.
