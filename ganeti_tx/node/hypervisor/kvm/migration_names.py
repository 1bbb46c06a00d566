"""What QEMU calls its abilities to migrate, as far as they are more to us than names (parameter `migration_caps`)."""

#: The machine runs on its new node before all of its memory is there; an older name, too.
POSTCOPY = ("postcopy-ram", "x-postcopy-ram")
#: What QEMU 7.2 refuses beside it.
AGAINST_POSTCOPY = frozenset({"background-snapshot", "x-ignore-shared"})
#: Memory goes over connections that QEMU makes beside the one that it is given.
MANY_CONNECTIONS = frozenset({"multifd", "postcopy-preempt"})
#: Where a QEMU that is not root may wait for memory that is missing only if this is 1.
USERFAULTFD = "/proc/sys/vm/unprivileged_userfaultfd"
