"""Xen with paravirtualised instances; see `xen`."""
