``cluster-merge [options] CLUSTER...`` (also in ``/usr/lib/ganeti/tools``) takes other clusters with their nodes, groups, networks and
instances into the one on whose master it is run. All that stands in the way is told before anything is done, and until the first node
is added a failure or an interrupt has all be as it was.
``gnt-node add --readd`` keeps a node's hypervisor and disk state where none is given.
