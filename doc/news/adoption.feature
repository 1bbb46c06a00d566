``gnt-instance add --disk 0:adopt=...`` makes an instance of disks that are there already, where the disk template allows it.
