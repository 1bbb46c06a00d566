"""The program gnt-filter."""

from ganeti_tx.cli.program import Entry, Program

PROGRAM = Program(
    "gnt-filter",
    "Manages the rules that hold jobs back",
    {
        "add": Entry("filter_change", "ADD", "add a rule"),
        "delete": Entry("filter_change", "DELETE", "delete a rule"),
        "info": Entry("filter_list", "INFO", "show all about rules"),
        "list": Entry("filter_list", "LIST", "list rules in the order in which they are asked"),
        "list-fields": Entry("filter_list", "LIST_FIELDS", "list the fields that list can show"),
        "replace": Entry("filter_change", "REPLACE", "replace a rule, or add it if there is none of this uuid"),
    },
)
