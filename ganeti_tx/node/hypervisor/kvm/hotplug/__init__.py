"""Disks and network interfaces that come and go while QEMU runs."""
