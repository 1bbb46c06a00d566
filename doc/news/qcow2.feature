Disks of the templates ``file`` and ``sharedfile`` can be images: ``gnt-instance add -t file --disk 0:size=20G,format=qcow2``, under KVM. Instances
with such disks are exported while they run, as instances are whose raw files lie on XFS or Btrfs. ``gnt-instance modify -t file -e format=qcow2``
converts, and ``-e format=raw`` converts back (``doc/design/file-storage.rst``). Nodes need qemu-utils for it, and FUSE.
