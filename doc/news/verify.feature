``gnt-cluster verify`` checks the configuration in one job and each node group in a job of its own, under every code of Ganeti's
that does not depend on LVM, DRBD or Gluster, with Ganeti's headings and severities, and ends with what the scripts of
``cluster-verify-post.d`` said. ``gnt-cluster verify-disks`` looks for mirrors that are broken or not ready, and activates their disks.
