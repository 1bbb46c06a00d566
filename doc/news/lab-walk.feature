The tests walk a mirrored instance through creation, a power cut, failover, replaced disks and migration on real DRBD and LVM.
