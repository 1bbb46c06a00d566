``gnt-cluster watcher pause DURATION``, ``continue`` and ``info`` have the watcher leave the cluster alone for a while. Every node is told, so that
the pause holds also when another node becomes the master.
