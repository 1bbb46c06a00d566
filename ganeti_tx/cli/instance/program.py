"""The program gnt-instance."""

from ganeti_tx.cli.program import Entry, Program

PROGRAM = Program(
    "gnt-instance",
    "Manages the instances (virtual machines) of the cluster",
    {
        "activate-disks": Entry("instance.disk_state", "ACTIVATE", "make the disks of an instance ready"),
        "add": Entry("instance.add", "ADD", "create an instance"),
        "add-tags": Entry("tags", "ADD_TO_NAMED", "add tags to an instance"),
        "batch-create": Entry("instance.batch_create", "BATCH_CREATE", "create the instances that a file describes"),
        "change-group": Entry("instance.change_group", "CHANGE_GROUP", "bring an instance to another node group"),
        "console": Entry("instance.console", "CONSOLE", "connect to the console of an instance"),
        "deactivate-disks": Entry("instance.disk_state", "DEACTIVATE", "take the disks of an instance down"),
        "failover": Entry("instance.moves", "FAILOVER", "stop an instance and start it on another node"),
        "grow-disk": Entry("instance.grow_disk", "GROW", "enlarge a disk of an instance, which may run"),
        "info": Entry("instance.info", "INFO", "show all about instances"),
        "list": Entry("instance.list", "LIST", "list instances"),
        "list-fields": Entry("instance.list", "LIST_FIELDS", "list the fields that list can show"),
        "list-tags": Entry("tags", "LIST_OF_NAMED", "list the tags of an instance"),
        "migrate": Entry("instance.moves", "MIGRATE", "bring a running instance to another node"),
        "modify": Entry("instance.modify", "MODIFY", "change the parameters, disks and NICs of an instance"),
        "move": Entry("instance.move", "MOVE", "copy an instance with its disks to another node"),
        "reboot": Entry("instance.power", "REBOOT", "restart instances"),
        "reinstall": Entry("instance.reinstall", "REINSTALL", "install an operating system anew on instances"),
        "recreate-disks": Entry("instance.recreate_disks", "RECREATE", "make lost disks of an instance anew, empty"),
        "remove": Entry("instance.remove", "REMOVE", "shut an instance down and remove it with its disks"),
        "remove-tags": Entry("tags", "REMOVE_FROM_NAMED", "remove tags from an instance"),
        "rename": Entry("instance.rename", "RENAME", "give an instance another name"),
        "replace-disks": Entry("instance.replace_disks", "REPLACE", "replace the copies of mirrored disks on a node"),
        "shutdown": Entry("instance.power", "SHUTDOWN", "stop instances"),
        "startup": Entry("instance.power", "STARTUP", "start instances"),
    },
    {"show": "info", "start": "startup", "stop": "shutdown"},
)
