"""The program gnt-cluster."""

from ganeti_tx.cli.program import Entry, Program

PROGRAM = Program(
    "gnt-cluster",
    "Manages the cluster as a whole",
    {
        "activate-master-ip": Entry("cluster.master", "ACTIVATE", "have the master take the cluster's address"),
        "add-tags": Entry("tags", "ADD_TO_CLUSTER", "add tags to the cluster"),
        "command": Entry("cluster.nodes", "COMMAND", "run a shell command on all nodes"),
        "copyfile": Entry("cluster.nodes", "COPYFILE", "copy a file to all other nodes"),
        "deactivate-master-ip": Entry("cluster.master", "DEACTIVATE", "have the master give up the cluster's address"),
        "destroy": Entry("cluster.destroy", "DESTROY", "take the empty cluster apart"),
        "epo": Entry("cluster.epo", "EPO", "switch nodes off in an emergency, or bring them back"),
        "export-config": Entry("cluster.export", "EXPORT", "print the configuration with every secret blank"),
        "getmaster": Entry("cluster.info", "GETMASTER", "show which node is the master"),
        "info": Entry("cluster.info", "INFO", "show the cluster's settings"),
        "init": Entry("cluster.init", "INIT", "make this node the first of a new cluster"),
        "list-tags": Entry("tags", "LIST_OF_CLUSTER", "list the tags of the cluster"),
        "master-failover": Entry("cluster.master", "FAILOVER", "make this node the master"),
        "master-ping": Entry("cluster.master", "PING", "check whether the master daemon answers"),
        "modify": Entry("cluster.modify", "MODIFY", "change the cluster's settings"),
        "queue": Entry("cluster.queue", "QUEUE", "close the job queue to new jobs, open it, or show which it is"),
        "redist-conf": Entry("cluster.modify", "REDIST_CONF", "send the configuration and the keys to all nodes again"),
        "remove-tags": Entry("tags", "REMOVE_FROM_CLUSTER", "remove tags from the cluster"),
        "rename": Entry("cluster.rename", "RENAME", "give the cluster another name and address"),
        "renew-crypto": Entry("cluster.renew_crypto", "RENEW_CRYPTO", "replace the cluster's keys and certificates"),
        "repair-disk-sizes": Entry("cluster.repair_disk_sizes", "REPAIR", "record the sizes that disks really have"),
        "search-tags": Entry("tags", "SEARCH", "find tags of the whole cluster by a regular expression"),
        "show-ispecs-cmd": Entry("cluster.ispecs", "SHOW", "show the command that sets the same bounds for instances"),
        "upgrade": Entry("cluster.upgrade", "UPGRADE", "have all nodes run another version of the program"),
        "verify": Entry("cluster.verify", "VERIFY", "check the whole cluster"),
        "verify-disks": Entry(
            "cluster.verify_disks", "VERIFY_DISKS", "look for broken disks, and make them ready again"
        ),
        "version": Entry("cluster.info", "VERSION", "show the versions of the cluster"),
        "watcher": Entry("cluster.watcher", "WATCHER", "have the watcher pause or go on, or show whether it is paused"),
    },
    {"masterfailover": "master-failover", "show": "info"},
)
