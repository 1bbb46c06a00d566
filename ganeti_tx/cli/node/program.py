"""The program gnt-node."""

from ganeti_tx.cli.program import Entry, Program

PROGRAM = Program(
    "gnt-node",
    "Manages the nodes of the cluster",
    {
        "add": Entry("node.add", "ADD", "join a node to the cluster"),
        "add-tags": Entry("tags", "ADD_TO_NAMED", "add tags to a node"),
        "evacuate": Entry("node.evacuate", "EVACUATE", "bring instances away from a node"),
        "failover": Entry("node.moves", "FAILOVER", "fail all primary instances of a node over"),
        "group-add": Entry("group.change", "ADD", "make a node group (gnt-group add)"),
        "group-del": Entry("group.change", "REMOVE", "remove a node group that has no nodes (gnt-group remove)"),
        "group-list": Entry("group.list", "LIST", "list node groups (gnt-group list)"),
        "group-rename": Entry("group.change", "RENAME", "give a node group another name (gnt-group rename)"),
        "health": Entry("node.power", "HEALTH", "show what out-of-band programs tell of the health of nodes"),
        "info": Entry("node.list", "INFO", "show all about nodes"),
        "list": Entry("node.list", "LIST", "list nodes"),
        "list-drbd": Entry("node.mirrors", "LIST", "list the DRBD minors of a node"),
        "list-fields": Entry("node.list", "LIST_FIELDS", "list the fields that list can show"),
        "list-tags": Entry("tags", "LIST_OF_NAMED", "list the tags of a node"),
        "list-storage": Entry("node.storage", "LIST", "list the storage units of nodes"),
        "migrate": Entry("node.moves", "MIGRATE", "migrate all primary instances of a node"),
        "modify": Entry("node.modify", "MODIFY", "change the role and the settings of a node"),
        "modify-storage": Entry("node.storage", "MODIFY", "change a storage unit of a node"),
        "power": Entry("node.power", "POWERING", "show or switch the power of nodes by their out-of-band programs"),
        "powercycle": Entry("node.powercycle", "POWERCYCLE", "reset a node through its own kernel"),
        "remove": Entry("node.add", "REMOVE", "remove a node from the cluster"),
        "remove-tags": Entry("tags", "REMOVE_FROM_NAMED", "remove tags from a node"),
        "repair-storage": Entry("node.storage", "REPAIR", "mend a storage unit of a node"),
        "restricted-command": Entry(
            "node.restricted", "RESTRICTED", "run a command that the administrator has laid out on nodes"
        ),
        "volumes": Entry("node.volumes", "LIST", "list the logical volumes of nodes"),
    },
    {"show": "info"},
)
