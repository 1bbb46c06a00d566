"""The program gnt-storage."""

from ganeti_tx.cli.program import Entry, Program

PROGRAM = Program(
    "gnt-storage",
    "Shows the providers of external storage",
    {
        "diagnose": Entry("storage.diagnose", "DIAGNOSE", "show the storage providers node by node, with their faults"),
        "info": Entry("storage.info", "INFO", "show what is known of storage providers"),
    },
)
