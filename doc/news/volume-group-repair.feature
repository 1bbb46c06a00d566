``gnt-node repair-storage`` mends a volume group only if nodes with the other copies of its instances are whole, those of stopped instances
are there, and nothing lies in it that is nowhere else and lost. What disks have lost there is removed first, whether they are in use or
not, as LVM changes nothing of such a group before; ``gnt-instance replace-disks -a`` then makes the new copy. The watcher mends once
where a node alone has lost physical volumes. ``gnt-cluster verify`` (ENODELVM) and the field ``fault`` of ``gnt-node list-storage`` tell
of such groups.
