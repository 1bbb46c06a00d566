"""No disks at all."""
