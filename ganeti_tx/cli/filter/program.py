"""The program gnt-filter."""

from ganeti_tx.cli.program import Entry, Program

PROGRAM = Program(
    "gnt-filter",
    "Manages the rules that hold jobs back",
    {
        "add": Entry("filter.change", "ADD", "add a rule"),
        "delete": Entry("filter.change", "DELETE", "delete a rule"),
        "info": Entry("filter.list", "INFO", "show all about rules"),
        "list": Entry("filter.list", "LIST", "list rules in the order in which they are asked"),
        "list-fields": Entry("filter.list", "LIST_FIELDS", "list the fields that list can show"),
        "replace": Entry("filter.change", "REPLACE", "replace a rule, or add it if there is none of this uuid"),
    },
)
