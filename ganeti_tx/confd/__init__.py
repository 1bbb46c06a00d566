"""The configuration daemon: signed questions about the cluster over UDP, answered on every master candidate."""
