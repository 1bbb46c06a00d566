"""The program gnt-network."""

from ganeti_tx.cli.program import Entry, Program

PROGRAM = Program(
    "gnt-network",
    "Manages networks for instances",
    {
        "add": Entry("network.change", "ADD", "make a network with a pool of addresses"),
        "add-tags": Entry("tags", "ADD_TO_NAMED", "add tags to a network"),
        "connect": Entry("network.connect", "CONNECT", "connect node groups to a network"),
        "disconnect": Entry("network.connect", "DISCONNECT", "disconnect node groups from a network"),
        "info": Entry("network.info", "INFO", "show all about networks, with a map of their addresses"),
        "list": Entry("network.list", "LIST", "list networks"),
        "list-fields": Entry("network.list", "LIST_FIELDS", "list the fields that list can show"),
        "list-tags": Entry("tags", "LIST_OF_NAMED", "list the tags of a network"),
        "modify": Entry("network.change", "MODIFY", "change the settings of a network"),
        "remove": Entry("network.change", "REMOVE", "remove a network that nothing uses"),
        "rename": Entry("network.change", "RENAME", "give a network another name"),
        "remove-tags": Entry("tags", "REMOVE_FROM_NAMED", "remove tags from a network"),
    },
)
