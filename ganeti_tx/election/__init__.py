"""Who becomes the master: votes, the role, the change of masters, the address of the cluster, and stepping down."""
