"""Runs the command lines of the record."""

import io
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from attrs import define

from ganeti_tx.cli.main import program_named
from ganeti_tx.cli.program import CommandContext, run
from ganeti_tx.cli.session import MASTER_FILE, connect_to_master
from ganeti_tx.test.inprocess import recorded
from ganeti_tx.test.inprocess.cluster import InProcessCluster
from ganeti_tx.test.inprocess.commands import Commands, DrivingClient
from ganeti_tx.test.inprocess.recorded_instances.printed import Printed
from ganeti_tx.test.inprocess.recorded_instances.terminal import Hangup, Keyboard, Screen

#: When there was no cluster, by the note of a line.
WITHOUT_CLUSTER = ("before the cluster exists", "after destroy")
#: How the recorder's ending of a command shows.
ENDED = -9
#: What follows the directory of the recorded files with definitions of instances.
DEFINITIONS = "/root/"


@define
class Player:
    """@ivar directory: a real one, of files that commands read themselves, and of nodes that are not the master."""

    cluster: InProcessCluster
    directory: Path

    def play(self, line: Mapping[str, Any]) -> Printed:
        """One line of the record."""
        program, *words = [recorded.here(word).replace(DEFINITIONS, f"{self.directory}/") for word in line["argv"]]
        screen = Screen() if "typed" in line else None
        out, err = screen or io.StringIO(), screen or io.StringIO()
        stdin = io.StringIO(line.get("stdin", "")) if screen is None else Keyboard(line["typed"], screen)
        luxi = DrivingClient(self.cluster)
        context = self._elsewhere(line, Commands(self.cluster).context(luxi, out, err)._replace(stdin=stdin))
        try:
            status = int(run(program_named(program), words, context))
        except Hangup:
            status = ENDED
        finally:
            luxi.close()
        told = [text.getvalue().replace(f"{self.directory}/", DEFINITIONS) for text in (out, err)]
        return Printed(status, told[0], "" if screen else told[1])

    def _elsewhere(self, line: Mapping[str, Any], usual: CommandContext) -> CommandContext:
        """Where there is no cluster, or on another node than the master."""
        root, name = self.directory / "nowhere", str(usual.environ["GANETI_HOSTNAME"])
        if "node" in line:
            root, name = self.directory / line["node"], line["node"]
            file = Path(f"{root}{MASTER_FILE}")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(self.cluster.master.name)
        elif not line.get("note", "").endswith(WITHOUT_CLUSTER):
            return usual
        environ = {"GANETI_HOSTNAME": name, "GANETI_ROOTDIR": str(root)}
        return usual._replace(environ=environ, connect=partial(connect_to_master, environ))
