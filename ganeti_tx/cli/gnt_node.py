"""The program gnt-node."""

from ganeti_tx.cli.program import Entry, Program

PROGRAM = Program(
    "gnt-node",
    "Manages the nodes of the cluster",
    {
        "add": Entry("node_add", "ADD", "join a node to the cluster"),
        "add-tags": Entry("tags", "ADD_TO_NAMED", "add tags to a node"),
        "info": Entry("node_list", "INFO", "show all about nodes"),
        "list": Entry("node_list", "LIST", "list nodes"),
        "list-fields": Entry("node_list", "LIST_FIELDS", "list the fields that list can show"),
        "list-tags": Entry("tags", "LIST_OF_NAMED", "list the tags of a node"),
        "modify": Entry("node_modify", "MODIFY", "change the role and the settings of a node"),
        "remove": Entry("node_add", "REMOVE", "remove a node from the cluster"),
        "remove-tags": Entry("tags", "REMOVE_FROM_NAMED", "remove tags from a node"),
    },
    {"show": "info"},
)
