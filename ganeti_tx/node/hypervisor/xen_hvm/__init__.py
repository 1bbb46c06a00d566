"""Xen with fully virtualised instances; see `xen`."""
