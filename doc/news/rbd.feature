Disks of template rbd: images in a pool of Ceph (disk parameters pool and access, as in Ganeti), with a device of the kernel or opened
by QEMU itself, also where the kernel has no module for them. They grow while the instance runs, migrate to any node, are converted
from and to other templates, and have snapshots for exports. `gnt-cluster verify` tells of nodes that do not reach the pool. doc/rbd.rst
says how to set it up.
