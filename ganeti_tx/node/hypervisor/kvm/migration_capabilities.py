"""What both QEMUs of a migration must be able to do, and are told to."""

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.hypervisors.kvm import KvmParams
from ganeti_tx.node.hypervisor.kvm import disk_copies
from ganeti_tx.node.hypervisor.kvm.migration_names import USERFAULTFD
from ganeti_tx.node.hypervisor.kvm.qmp import QmpClient, QmpError

#: The old machine hears from the new one that all has arrived, before it gives itself up.
OWN_CAPABILITIES = ("return-path", "events")
#: It holds before the last of the memory: copies of disks must end there.
HOLDS = "pause-before-switchover"


def wanted_capabilities(params: KvmParams) -> list[str]:
    """Those that the parameters name."""
    return [name for name in params.migration_caps.split(":") if name]


async def capabilities(client: QmpClient) -> dict[str, bool]:
    """What this QEMU can do, and whether it will."""
    return {each["capability"]: each["state"] for each in await client.execute("query-migrate-capabilities")}


async def set_capabilities(client: QmpClient, params: KvmParams) -> None:
    """Switch on what is wanted, and off what was wanted once. @raise HypervisorError: this QEMU does not know it."""
    able = await capabilities(client)
    wanted = wanted_capabilities(params)
    if missing := [name for name in wanted if name not in able]:
        raise HypervisorError(f"migration_caps: QEMU here does not know {', '.join(missing)}")
    holds = (HOLDS,) if await disk_copies.jobs(client) else ()
    on = {*wanted, *(name for name in (*OWN_CAPABILITIES, *holds) if name in able)}
    changes = [{"capability": name, "state": name in on} for name, state in able.items() if state is not (name in on)]
    if not changes:
        return
    try:
        await client.execute("migrate-set-capabilities", {"capabilities": changes})
    except QmpError as error:
        hint = (
            f"; a QEMU that is not root's needs 1 in {USERFAULTFD}" if "Postcopy is not supported" in str(error) else ""
        )
        raise HypervisorError(f"migration_caps: {error}{hint}") from None
