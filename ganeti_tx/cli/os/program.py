"""The program gnt-os."""

from ganeti_tx.cli.program import Entry, Program

PROGRAM = Program(
    "gnt-os",
    "Shows the OS definitions that instances can be installed from",
    {
        "diagnose": Entry("os.list", "DIAGNOSE", "show the OS definitions node by node, with their faults"),
        "list": Entry("os.list", "LIST", "list the OS definitions that all nodes have"),
    },
    {"show": "info"},
)
