With ``gnt-cluster modify --maintain-node-health yes`` a node that the master candidates call offline cuts its machines off by itself, and
``ganeti-watcher`` removes what QEMU machines have left on a node whose instances are gone from the cluster.
