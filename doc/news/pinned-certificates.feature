Nodes are known by the digests of their certificates when they are called, too: who was a master candidate, and kept the key of
the cluster's authority, cannot pass for another node. Clusters that are there already learn the digests with
'gnt-cluster redist-conf'.
