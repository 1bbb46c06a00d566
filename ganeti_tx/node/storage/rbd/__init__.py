"""Images of Ceph: RADOS block devices."""
