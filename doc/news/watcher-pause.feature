``gnt-cluster watcher pause DURATION``, ``continue`` and ``info`` have the watcher leave the cluster alone for a while.
