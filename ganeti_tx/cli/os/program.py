"""The program gnt-os."""

from ganeti_tx.cli.program import Entry, Program

PROGRAM = Program(
    "gnt-os",
    "Shows and adjusts the OS definitions that instances can be installed from",
    {
        "diagnose": Entry("os.diagnose", "DIAGNOSE", "show the OS definitions node by node, with their faults"),
        "info": Entry("os.info", "INFO", "show what is known of OS definitions"),
        "list": Entry("os.list", "LIST", "list the OS definitions that all nodes have"),
        "modify": Entry("os.modify", "MODIFY", "change what the cluster sets for an OS, and who sees it"),
    },
    {"show": "info"},
)
