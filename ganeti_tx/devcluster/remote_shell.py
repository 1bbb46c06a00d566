"""What ssh is on real nodes: `remote_shell HOST COMMAND...` runs a command as on that node of the devcluster."""

import os
import shutil
import sys
from pathlib import Path

from ganeti_tx.devcluster.error import DevclusterError
from ganeti_tx.devcluster.layout import load


def main() -> int:
    """Become the command; its name is looked up beside this Python."""
    if len(sys.argv) < 3:
        print("usage: remote_shell HOST COMMAND [ARGUMENT...]", file=sys.stderr)
        return 2
    host, command = sys.argv[1], sys.argv[2:]
    try:
        layout = load(Path(os.environ.get("GANETI_ROOTDIR", "/")).parent)
        node = layout.node(host)
    except DevclusterError as error:
        print(f"remote_shell: {error}", file=sys.stderr)
        return 255
    environment = node.environment(os.environ)
    beside = Path(sys.executable).parent / command[0]
    program = str(beside) if beside.exists() else shutil.which(command[0])
    if program is None:
        print(f"remote_shell: no command {command[0]!r}", file=sys.stderr)
        return 127
    os.execve(program, command, environment)


if __name__ == "__main__":
    sys.exit(main())
