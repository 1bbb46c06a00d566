"""Disks that are files on a volume of Gluster, which is mounted when one is needed or is opened by QEMU itself."""
