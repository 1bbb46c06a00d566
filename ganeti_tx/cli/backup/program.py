"""The program gnt-backup."""

from ganeti_tx.cli.program import Entry, Program

PROGRAM = Program(
    "gnt-backup",
    "Manages exports of instances",
    {
        "list": Entry("backup.list", "LIST", "list the exports that nodes have"),
        "export": Entry("backup.export", "EXPORT", "export an instance to a node"),
        "import": Entry("backup.import_", "IMPORT", "make an instance of an export"),
        "remove": Entry("backup.remove", "REMOVE", "remove the exports of an instance from the nodes"),
        "list-fields": Entry("backup.list", "LIST_FIELDS", "list the fields of exports"),
    },
)
