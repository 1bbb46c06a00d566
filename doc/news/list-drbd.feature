``gnt-node list-drbd`` lists the minors that the configuration gives to mirrored disks on a node.
