"""Disks that are logical volumes of LVM."""
