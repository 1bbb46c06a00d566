"""What is done with all machines of a node by the node alone, by a program that others start (`watcher/machines.py`)."""

from ganeti_tx.own_modules import module_argv

#: Cut all off; remove what those left whose instances are gone; cut off those of which something is kept below the root; then
#: give back what storages keep of the node.
STOP, CLEAR, END, LEAVE = "stop", "clear", "end", "leave"
#: Seconds that each of it may take.
LIMIT = 600.0


def machines_argv(what: str) -> list[str]:
    """The program, which knows its node by its environment. It prints lines, and fails when not all was done."""
    return module_argv("ganeti_tx.watcher.machines", what)
