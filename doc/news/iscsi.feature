A provider of external storage, ``iscsi``, comes with the program (``etc/extstorage/iscsi``, or ``share/ganeti_tx/extstorage/iscsi``): disks are
LUNs of targets that are there, or targets that it makes with tgt. The node's kernel has them, by open-iscsi, or QEMU alone.
