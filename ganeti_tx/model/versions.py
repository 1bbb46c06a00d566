"""The version numbers that other programs see (Ganeti 3.0 configuration table, versions)."""

PROTOCOL_VERSION = 3000000
CONFIG_VERSION = 3000000
EXPORT_VERSION = 0
OS_API_VERSION = 20
OS_API_VERSIONS = (10, 15, 20)
RAPI_VERSION = 2
CONFD_VERSION = 1
JOB_QUEUE_VERSION = 1
HOOKS_VERSION = 2
IALLOCATOR_VERSION = 2

#: What node daemons speak with the master. It rises when one of them does not understand the other any more, or does not take
#: its calls (doc/design/node-calls.rst); no other program sees it.
NODE_PROTOCOL_VERSION = 3000002
#: Since when they know formats of disks, and encrypt migrations; older ones leave out what they are told of either.
DISK_FORMATS_SINCE = MIGRATION_KEYS_SINCE = 3000002

#: What programs that ask for the software's version compare with: the surface that this program offers.
RELEASE_VERSION = "3.0.2"
VCS_VERSION = "(ganeti_tx)"
