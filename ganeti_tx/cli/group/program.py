"""The program gnt-group."""

from ganeti_tx.cli.program import Entry, Program

PROGRAM = Program(
    "gnt-group",
    "Manages node groups",
    {
        "add": Entry("group.change", "ADD", "make a node group"),
        "add-tags": Entry("tags", "ADD_TO_NAMED", "add tags to a node group"),
        "assign-nodes": Entry("group.change", "ASSIGN_NODES", "move nodes to a group"),
        "evacuate": Entry("group.change", "EVACUATE", "move all instances of a node group to other groups"),
        "info": Entry("group.info", "INFO", "show all about node groups"),
        "list": Entry("group.list", "LIST", "list node groups"),
        "list-fields": Entry("group.list", "LIST_FIELDS", "list the fields that list can show"),
        "list-tags": Entry("tags", "LIST_OF_NAMED", "list the tags of a node group"),
        "modify": Entry("group.change", "MODIFY", "change the settings of a node group"),
        "remove": Entry("group.change", "REMOVE", "remove a node group that has no nodes"),
        "remove-tags": Entry("tags", "REMOVE_FROM_NAMED", "remove tags from a node group"),
        "rename": Entry("group.change", "RENAME", "give a node group another name"),
        "show-ispecs-cmd": Entry("group.info", "SHOW_ISPECS_CMD", "show the command that makes such a group anew"),
    },
)
