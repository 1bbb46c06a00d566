``bin/lab`` brings up virtual machines with LVM and DRBD on which the drivers of disks are tested; ``bin/test`` uses them, too.
