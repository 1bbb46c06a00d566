"""A hypervisor that only remembers what it was told."""
