``gnt-instance reinstall`` and ``OP_INSTANCE_REINSTALL`` install the same or another operating system anew on stopped instances.
