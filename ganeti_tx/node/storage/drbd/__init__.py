"""The template drbd: disks that DRBD 8.4 keeps alike on two nodes."""
