``gnt-instance rename``, ``OP_INSTANCE_RENAME`` and the Remote API's ``rename`` give a stopped instance another name, with its disks and what its guest calls itself.
