gnt-instance activate-disks and deactivate-disks, also by LUXI and the Remote API; the watcher and gnt-cluster verify-disks make disks ready again.
gnt-instance grow-disk, also while the instance runs: KVM's guests see the new size at once. Clusters with prealloc_wipe_disks wipe what is new.
gnt-instance replace-disks in all four modes; what a replacement that was cut off has left is removed by the next one.
gnt-instance recreate-disks, also on other nodes. Clusters with prealloc_wipe_disks wipe disks when instances are made and when they are removed.
gnt-cluster repair-disk-sizes.
