"""Taking a device from a guest: the guest is asked, and lets it go or does not."""

from ganeti_tx.errors import HypervisorError
from ganeti_tx.node.hypervisor.kvm.qmp import QmpError
from ganeti_tx.node.hypervisor.kvm.running import RunningInstance

#: Seconds in which a guest lets a device go; one that runs under load and without KVM needs some.
LIMIT = 30.0
#: What QEMU 6.1 and later say when they are asked again while the guest still thinks it over.
ASKED_ALREADY = "already in the process of unplug"


async def let_go(machine: RunningInstance, device: str, limit: float) -> None:
    """Done when QEMU does not have the device any more. @raise HypervisorError: the guest keeps it."""
    if device not in await machine.devices():
        return
    status = (await machine.client.execute("query-status"))["status"]
    if status != "running":
        raise HypervisorError(f"its guest stands still ({status}) and cannot let {device} go")
    gone = machine.client.next_event("DEVICE_DELETED", limit, lambda data: data.get("device") == device)
    try:
        await ask(machine, device)
        if device in await machine.devices():
            await gone
    except QmpError:
        raise
    except HypervisorError:
        if device in await machine.devices():
            raise HypervisorError(
                f"its guest has not let {device} go within {limit:g} s; it must know ACPI hot-plug and not be stuck"
            )
    finally:
        gone.addErrback(lambda _: None)
        gone.cancel()


async def ask(machine: RunningInstance, device: str) -> None:
    """Ask, once."""
    try:
        await machine.client.execute("device_del", {"id": device})
    except QmpError as error:
        if error.error_class != "DeviceNotFound" and ASKED_ALREADY not in str(error):
            raise
