"""The program gnt-instance."""

from ganeti_tx.cli.program import Entry, Program

PROGRAM = Program(
    "gnt-instance",
    "Manages the instances (virtual machines) of the cluster",
    {
        "add": Entry("instance_add", "ADD", "create an instance"),
        "add-tags": Entry("tags", "ADD_TO_NAMED", "add tags to an instance"),
        "console": Entry("instance_console", "CONSOLE", "connect to the console of an instance"),
        "info": Entry("instance_info", "INFO", "show all about instances"),
        "list": Entry("instance_list", "LIST", "list instances"),
        "list-fields": Entry("instance_list", "LIST_FIELDS", "list the fields that list can show"),
        "list-tags": Entry("tags", "LIST_OF_NAMED", "list the tags of an instance"),
        "reboot": Entry("instance_power", "REBOOT", "restart instances"),
        "remove": Entry("instance_remove", "REMOVE", "shut an instance down and remove it with its disks"),
        "remove-tags": Entry("tags", "REMOVE_FROM_NAMED", "remove tags from an instance"),
        "shutdown": Entry("instance_power", "SHUTDOWN", "stop instances"),
        "startup": Entry("instance_power", "STARTUP", "start instances"),
    },
    {"show": "info", "start": "startup", "stop": "shutdown"},
)
