"""The program gnt-cluster."""

from ganeti_tx.cli.program import Entry, Program

PROGRAM = Program(
    "gnt-cluster",
    "Manages the cluster as a whole",
    {
        "activate-master-ip": Entry("cluster_master", "ACTIVATE", "have the master take the cluster's address"),
        "add-tags": Entry("tags", "ADD_TO_CLUSTER", "add tags to the cluster"),
        "deactivate-master-ip": Entry("cluster_master", "DEACTIVATE", "have the master give up the cluster's address"),
        "destroy": Entry("cluster_destroy", "DESTROY", "take the empty cluster apart"),
        "getmaster": Entry("cluster_info", "GETMASTER", "show which node is the master"),
        "info": Entry("cluster_info", "INFO", "show the cluster's settings"),
        "init": Entry("cluster_init", "INIT", "make this node the first of a new cluster"),
        "list-tags": Entry("tags", "LIST_OF_CLUSTER", "list the tags of the cluster"),
        "master-failover": Entry("cluster_master", "FAILOVER", "make this node the master"),
        "master-ping": Entry("cluster_master", "PING", "check whether the master daemon answers"),
        "modify": Entry("cluster_modify", "MODIFY", "change the cluster's settings"),
        "queue": Entry("cluster_queue", "QUEUE", "close the job queue to new jobs, open it, or show which it is"),
        "redist-conf": Entry("cluster_modify", "REDIST_CONF", "send the configuration and the keys to all nodes again"),
        "remove-tags": Entry("tags", "REMOVE_FROM_CLUSTER", "remove tags from the cluster"),
        "verify": Entry("cluster_verify", "VERIFY", "check the whole cluster"),
        "version": Entry("cluster_info", "VERSION", "show the versions of the cluster"),
    },
    {"masterfailover": "master-failover", "show": "info"},
)
