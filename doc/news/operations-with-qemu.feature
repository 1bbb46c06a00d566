``doc/operations.rst`` tells of every operation on instances what it does with QEMU, too, as tests with real processes have found it.
