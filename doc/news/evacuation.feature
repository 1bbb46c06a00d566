``gnt-node evacuate``, ``gnt-group evacuate`` and ``gnt-instance change-group`` submit the jobs that an instance allocator finds, after checking them against the cluster;
``gnt-instance change-group --cleanup`` brings an instance that was left in two groups to that of its primary node.
