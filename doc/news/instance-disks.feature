gnt-instance activate-disks and deactivate-disks, also by LUXI and the Remote API; the watcher and gnt-cluster verify-disks make disks ready again.
