"""Installing an OS whose script no node may run: the instance runs it itself, started from the cluster's install image.

What is in the image gets script, parameters and variables from the metadata service, writes there what it has to say, and
powers the instance off. Its last line may be "exit status N"; any number but 0 is a failure.
"""

import re
from collections.abc import Mapping

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
from ganeti_tx.rpc.calls.metadata import InstanceMetadataRead
from ganeti_tx.rpc.calls.os import OsDiagnose
from ganeti_tx.rpc.interfaces import RpcError

#: Seconds that a run may take, if nobody says otherwise.
SHUTDOWN_TIMEOUT = 7200
_ENDED = re.compile(r"exit status (\d{1,3})")
#: Lines of the end of what was said that stand in an error, and characters of all that is kept.
SHOWN_LINES, MOST_KEPT = 5, 64 * 1024


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
        hidden = [*spec.osparams_private.values(), *spec.osparams_secret.values()]
        await self.run.run(replace(spec, nics=self.nics), self._listen, variables, down)
        lines = without_values(self._said, hidden).splitlines()
        ended = _ENDED.fullmatch(lines[-1].strip()) if lines else None
        if ended is not None and int(ended[1]) != 0:
            shown = "; ".join(line.strip()[:200] for line in lines[-SHOWN_LINES:])
            raise OpExecError(f"could not install OS {spec.os} on instance {spec.name}: its script said: {shown}")

    async def _listen(self) -> None:
        """Hear what it has to say. @raise OpExecError: the node cannot talk to it, so that it would wait in vain."""
        try:
            call = InstanceMetadataRead(instance_name=self.run.target.instance.name)
            self._said = (self._said + await self.parts.nodes.call(self.run.target.primary, call))[-MOST_KEPT:]
        except RpcError as error:
            raise OpExecError(f"the install image cannot be told what to install: {error}") from None
