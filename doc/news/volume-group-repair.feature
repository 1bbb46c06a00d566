``gnt-node repair-storage`` mends a volume group only if nodes with the other copies of its instances are whole, those of stopped instances
are there, and nothing lies in it that is nowhere else and lost. The watcher does that once for a node that alone has lost physical
volumes. ``gnt-cluster verify`` (ENODELVM) and the field ``fault`` of ``gnt-node list-storage`` tell of such groups.
