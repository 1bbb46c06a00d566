"gnt-backup remove" removes the exports of an instance from all nodes.
