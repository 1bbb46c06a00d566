"""Installing an OS whose script no node may run: the instance runs it itself, started from the cluster's install image.

What is in the image gets script, parameters and variables from the metadata service, writes there what it has to say, and
powers the instance off. The last line ends with "exit status N", and 0 alone is a success: an image whose script never ran says
nothing.
"""

import re
from collections.abc import Iterable, Mapping

import attrs
from msgspec.structs import replace

from ganeti_tx.errors import OpExecError
from ganeti_tx.logic.image_run.nic import image_nics
from ganeti_tx.logic.image_run.run import ImageRun
from ganeti_tx.logic.parts import Parts
from ganeti_tx.logic.plan import Plan
from ganeti_tx.logic.questions import ask
from ganeti_tx.model.instance_spec import InstanceSpec, NicSpec
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.opcodes.private import without_values
from ganeti_tx.model.params.os import os_name
from ganeti_tx.model.printable import printable
from ganeti_tx.rpc.calls.metadata import InstanceMetadataRead
from ganeti_tx.rpc.calls.os import OsDiagnose
from ganeti_tx.rpc.interfaces import RpcError

#: Seconds that a run may take, if nobody says otherwise.
SHUTDOWN_TIMEOUT = 7200
#: A script need not end the line before.
_ENDED = re.compile(r"exit status ([0-9]{1,3})\s*\Z")
#: Lines of the end of what was said that stand in an error, characters of each of them, and of all that is kept.
SHOWN_LINES, MOST_SHOWN, MOST_KEPT = 5, 200, 64 * 1024


async def is_untrusted(parts: Parts, target: InstanceView, os: str) -> bool:
    """Whether it has a script, on the instance's node, that runs only so."""
    reports = await ask(parts.nodes, target.primary, OsDiagnose())
    return any(each.name == os_name(os) and each.valid and not each.trusted for each in reports)


@attrs.define
class ImageInstall:
    """One of these."""

    parts: Parts
    run: ImageRun
    nics: list[NicSpec]
    _said: str = ""

    @classmethod
    async def planned(
        cls, parts: Parts, target: InstanceView, os: str, startup: int | None = None, limit: int | None = None
    ) -> "ImageInstall | None":
        """None for an OS that a node installs. @raise OpPrereqError: it cannot be done."""
        image = target.cluster.install_image
        if not image or not await is_untrusted(parts, target, os):
            return None
        nics = await image_nics(parts, target)
        run = await ImageRun.planned(parts, target, image, SHUTDOWN_TIMEOUT if limit is None else limit, startup)
        return cls(parts, run, nics)

    def steps(self) -> Plan:
        """In order."""
        return self.run.steps()

    async def install(self, spec: InstanceSpec, *, down: bool = True, reinstall: bool = False) -> None:
        """Do it. @param spec: with secret parameters. @param down: whether its disks are not ready now.

        @raise OpExecError: it failed, or does not say that it did not.
        """
        self.parts.info("* running the instance OS create script in a machine started from the install image...")
        variables: Mapping[str, str] = {"INSTANCE_REINSTALL": "1"} if reinstall else {}
        await self.run.run(replace(spec, nics=self.nics), self._listen, variables, down)
        if why := failure(self._said, [*spec.osparams_private.values(), *spec.osparams_secret.values()]):
            raise OpExecError(f"could not install OS {spec.os} on instance {spec.name}: {why}")

    async def _listen(self) -> None:
        """Hear what it has to say. @raise OpExecError: the node cannot talk to it, so that it would wait in vain."""
        try:
            call = InstanceMetadataRead(instance_name=self.run.target.instance.name)
            self._said = kept(self._said + await self.parts.nodes.call(self.run.target.primary, call))
        except RpcError as error:
            raise OpExecError(f"the install image cannot be told what to install: {error}") from None


def failure(said: str, hidden: Iterable[object]) -> str:
    """Why what a script said is not that it did its work; empty if it is. @param hidden: what is not told of it."""
    ended = _ENDED.search(said)
    if ended is not None and int(ended[1]) == 0:
        return ""
    lines = [printable(line.strip(), MOST_SHOWN).strip() for line in without_values(said, hidden).splitlines()]
    shown = "; ".join([line for line in lines if line][-SHOWN_LINES:])
    if ended is not None:
        return f"its script said: {shown}"
    return "its script said nothing of its end (a last line 'exit status 0')" + (f", but: {shown}" if shown else "")


def kept(said: str) -> str:
    """The end of what is too much, from the beginning of a line: half a value would not be found by who hides it."""
    return said if len(said) <= MOST_KEPT else said[-MOST_KEPT:].partition("\n")[2]
