"""Where programs that sites add are looked for, below the root and first found wins (Ganeti 3.0 configuration table)."""

_LIB = "usr/lib/ganeti"

OS_DEFINITIONS = ("srv/ganeti/os", "usr/local/lib/ganeti/os", f"{_LIB}/os", "usr/share/ganeti/os")
EXTERNAL_STORAGE = (
    "srv/ganeti/extstorage",
    "usr/local/lib/ganeti/extstorage",
    f"{_LIB}/extstorage",
    "usr/share/ganeti/extstorage",
)
#: What is set when a machine is set up, in place of the next.
INSTANCE_ALLOCATORS_FILE = "etc/ganeti/iallocator-search-path"
INSTANCE_ALLOCATORS = ("usr/local/lib/ganeti/iallocators", f"{_LIB}/iallocators")
