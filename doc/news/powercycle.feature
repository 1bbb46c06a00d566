``gnt-node powercycle`` resets a node through its own kernel, also one that is marked offline, and needs no locks. A node that is a part of a machine, as in a
devcluster, ends its own processes only, and one in a container refuses.
