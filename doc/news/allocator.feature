"gnt-instance add -I NAME", and the cluster's default allocator, choose the node: programs for Ganeti's allocator protocol, such as hail,
are run as Ganeti runs them.
