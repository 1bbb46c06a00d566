"""Installing an operating system anew."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from msgspec.structs import replace

from ganeti_tx.errors import ECode, OpExecError, OpPrereqError, ParameterError
from ganeti_tx.logic.disks.on_nodes import assemble_elsewhere, disk_nodes, shutdown_disks, shutdowns
from ganeti_tx.logic.hook import Hook
from ganeti_tx.logic.image_run.installing import ImageInstall
from ganeti_tx.logic.instance.presence import stop
from ganeti_tx.logic.instance.stopped import CLEAR, check_node_online, check_stopped
from ganeti_tx.logic.instance.unit import InstanceUnit
from ganeti_tx.logic.plan import Plan, PlannedStep
from ganeti_tx.logic.questions import ask_os
from ganeti_tx.model.hooks import HookObject
from ganeti_tx.model.instance import Instance
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.opcodes.instance import OpInstanceReinstall
from ganeti_tx.model.opcodes.private import reveal
from ganeti_tx.model.params.kinds import updated
from ganeti_tx.model.params.os import check_osparams, fitting, os_name
from ganeti_tx.model.undo import Undo
from ganeti_tx.rpc.calls.instance import InstanceOsAdd
from ganeti_tx.rpc.calls.os import OsValidate
from ganeti_tx.rpc.interfaces import RpcError

INSTALL, SETTINGS = "run the OS create scripts", "change its operating system in the configuration"


class LUInstanceReinstall(InstanceUnit[OpInstanceReinstall]):
    """Run the create scripts on the disks of a stopped instance.

    What a script has written cannot be taken back; the configuration says what was installed last without a failure.
    """

    hook = Hook("instance-reinstall", HookObject.INSTANCE)
    changes_room: ClassVar[bool] = False

    _left_over: bool = False
    _changed: InstanceView
    _secret: Mapping[str, str] = {}
    #: What installs it, if no node may.
    _image: ImageInstall | None = None

    async def check(self) -> None:
        """The instance has disks and is stopped; its node has the system and accepts the parameters."""
        await super().check()
        check_node_online(self.target, "reinstall")
        if not self.instance.disks:
            raise OpPrereqError(f"Instance '{self.instance.name}' has no disks", ECode.INVAL)
        self._left_over = await check_stopped(self.nodes, self.target, "reinstall") is not None
        self._changed = replace(self.target, instance=self._with_system())
        await self._check_system()
        self._image = await ImageInstall.planned(self, self._changed, self._changed.instance.os)

    def _with_system(self) -> Instance:
        """The instance as it is to be."""
        op, held = self.op, self.instance
        os = op.os_type or held.os
        if not os:
            raise OpPrereqError(f"instance {held.name} has no operating system; name the one to install", ECode.INVAL)
        try:
            public = merged(held.osparams, op.osparams)
            private = merged(held.osparams_private, reveal(op.osparams_private), "osparams_private")
            self._secret = check_osparams(reveal(op.osparams_secret), "osparams_secret")
        except ParameterError as error:
            raise OpPrereqError(str(error), ECode.INVAL) from None
        return replace(held, os=os, osparams=public, osparams_private=private)

    async def _check_system(self) -> None:
        """@raise OpPrereqError: it may not be installed, or the node cannot do so."""
        spec = self._changed.spec(osparams_secret=self._secret)
        if {spec.os, os_name(spec.os)} & set(self.target.cluster.blacklisted_os):
            raise OpPrereqError(f"Guest OS '{spec.os}' is not allowed for installation", ECode.STATE)
        call = OsValidate(
            required=True,
            os_name=spec.os,
            checks=["parameters"],
            osparams={**spec.osparams, **spec.osparams_private, **spec.osparams_secret},
            force_variant=self.op.force_variant,
            hypervisor=spec.hypervisor,
            on_node=not self.target.cluster.install_image,
            hidden=[*spec.osparams_private, *spec.osparams_secret],
        )
        await ask_os(self.nodes, self.target.primary, call)

    def plan(self) -> Plan:
        """The scripts, then what the configuration says."""
        instance, node = (f"instance {self.instance.name}",), (self.target.primary.name,)
        steps = [PlannedStep(CLEAR, node, instance)] if self._left_over else []
        if self._image is not None:
            steps += self._image.steps()
        else:
            steps.append(PlannedStep(INSTALL, disk_nodes(self.target), instance))
        if self._changed.instance != self.instance:
            steps.append(PlannedStep(SETTINGS, (), instance))
        return steps

    async def execute(self) -> None:
        """Install, and remember what."""
        if self._left_over:
            async with self.step(CLEAR):
                await stop(self.nodes, self.target, 0, self.warn, force=True)
        if self._changed.instance.os != self.instance.os:
            self.info(f"Changing OS scripts to '{self._changed.instance.os}'...")
        self.info("- INFO: Running instance OS create scripts...")
        if self._image is not None:
            await self._install_by(self._image)
        else:
            async with self.step(INSTALL, *self._taken_down()):
                await self._install()
        if self._changed.instance != self.instance:
            async with self.step(SETTINGS):
                await self.config.update_instance(self._changed.instance)

    def _taken_down(self) -> Sequence[Undo]:
        """Disks that were ready before stay so."""
        return () if self.instance.disks_active else shutdowns(self.target)

    async def _install_by(self, image: ImageInstall) -> None:
        spec = self._changed.spec(osparams_secret=self._secret)
        await image.install(spec, down=not self.instance.disks_active, reinstall=True)
        if not self.instance.disks_active:
            await shutdown_disks(self.nodes, self.target, self.warn)

    async def _install(self) -> None:
        name, system = self.instance.name, self._changed.instance.os
        await assemble_elsewhere(self.nodes, self.target, self.warn)
        spec = self._changed.spec(osparams_secret=self._secret)
        try:
            call = InstanceOsAdd(instance=spec, reinstall=True, debug=self.op.debug_level or 0)
            await self.nodes.call(self.target.primary, call)
        except RpcError as error:
            raise OpExecError(f"could not install OS {system} on instance {name}: {error}") from None
        if not self.instance.disks_active:
            await shutdown_disks(self.nodes, self.target, self.warn)


def merged(held: Mapping[str, str], given: Mapping[str, Any] | None, path: str = "osparams") -> dict[str, str]:
    """The parameters that an instance has of its own, with those given; "default" takes one away.

    @raise ParameterError: one is no text, or they are too much.
    """
    wanted = {name: str(value) for name, value in updated(held, check_osparams(given or {}, path)).items()}
    return fitting(wanted, path) if wanted.keys() & (given or {}).keys() else wanted
