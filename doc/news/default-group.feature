The cluster has a default node group (gnt-cluster modify --default-group, Remote API): new instances without node or group, and new nodes
without group, come there. An instance allocator sees only the nodes of the group that it is to choose from.
