"""Tests on virtual machines that have what this machine may lack: a kernel of their own with LVM and DRBD.

See `__main__` for the same by hand.
"""
