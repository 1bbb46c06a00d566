``gnt-instance modify`` and ``OP_INSTANCE_SET_PARAMS``: parameters of backend, hypervisor and operating system, NICs and disks that are added, attached,
detached, changed and removed, also while the instance runs, its memory, marking it as offline, and its new primary node.
