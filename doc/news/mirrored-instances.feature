Where a mirrored disk template is available, creating an instance waits until its disks are in sync on both nodes, unless
``--no-wait-for-sync`` is given, and tells how far they are; starting makes disks ready on all their nodes.
