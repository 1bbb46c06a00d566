"""Images of Ceph."""
