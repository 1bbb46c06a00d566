"""An instance that runs, with what the node remembers of it and a connection to its QEMU."""

from collections.abc import Sequence
from typing import Any, TypeVar

import msgspec
from attrs import define

from ganeti_tx.model.hypervisors.kvm import KvmParams
from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.node.hypervisor.kvm import state as states
from ganeti_tx.node.hypervisor.kvm.layout import InstanceLayout
from ganeti_tx.node.hypervisor.kvm.parameters import kvm_params
from ganeti_tx.node.hypervisor.kvm.qmp import QmpClient
from ganeti_tx.node.hypervisor.kvm.state import InstanceRuntime
from ganeti_tx.runtime.files import IFiles

T = TypeVar("T")

#: Where QEMU has the devices that have an id.
DEVICES = "/machine/peripheral"


@define
class RunningInstance:
    """One that can be changed. What is remembered is changed before QEMU is, so that nothing is left of what was begun."""

    files: IFiles
    layout: InstanceLayout
    state: InstanceRuntime
    client: QmpClient

    def params(self, spec: InstanceSpec) -> KvmParams:
        """What it was started with; of one that an older version started, what it has now."""
        return self.state.params or kvm_params(spec.hvparams)

    async def remember(self, **changes: Any) -> None:
        """Change what is remembered."""
        self.state = msgspec.structs.replace(self.state, **changes)
        await states.save(self.files, self.layout, self.state)

    async def devices(self) -> set[str]:
        """The ids of all devices that QEMU has, those included that the guest has yet to let go."""
        return {str(each["name"]) for each in await self.client.execute("qom-list", {"path": DEVICES})}


def inserted(items: Sequence[T], item: T, index: int) -> list[T]:
    """With one more at that place; at the end when there is no such place."""
    place = index if 0 <= index <= len(items) else len(items)
    return [*items[:place], item, *items[place:]]
