``ganeti-watcher`` runs on every node: it starts daemons that died, runs the scripts of ``/etc/ganeti/hooks/watcher``, and on the
master archives old jobs and starts instances again that should run and do not, at most five times in a row, a process for each
node group. ``--ignore-pause``, ``--job-age``, ``--no-wait-children``, ``--no-verify-disks`` and ``--rapi-ip`` are Ganeti's.
