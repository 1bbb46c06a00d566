"""The memory of a guest that runs."""

from ganeti_tx.errors import HypervisorError
from ganeti_tx.node.hypervisor.kvm.qmp import QmpClient, QmpError, QmpLost
from ganeti_tx.node.hypervisor.kvm.running import RunningInstance
from ganeti_tx.node.hypervisor.live import check_balloon

#: Seconds within which a guest that obeys has taken or given some memory, and how often it is waited for: once a second.
LIMIT = 20.0
MOST_STEPS = 300
ASK_LIMIT = 5.0
MiB = 1024 * 1024


async def balloon(machine: RunningInstance, memory: int, limit: float = LIMIT) -> None:
    """See `IBalloon`; a guest that stops half way may have again what it had."""
    name, client = machine.layout.name, machine.client
    check_balloon(name, memory, machine.state.memory)
    before = await balloon_size(client)
    if before is None:
        raise HypervisorError(f"instance {name} was started without a memory balloon; restart it")
    if not await _reaches(client, memory, limit):
        reached = await balloon_size(client)
        await client.execute("balloon", {"value": before * MiB})
        raise HypervisorError(
            f"the guest of instance {name} stays at {reached} MiB instead of {memory}, and may have {before} again;"
            " it needs the driver virtio_balloon, and memory that it can spare"
        )


async def _reaches(client: QmpClient, memory: int, limit: float) -> bool:
    """Whether the guest comes to have that much, as long as it does something."""
    for _ in range(MOST_STEPS):
        changed = client.next_event("BALLOON_CHANGE", limit)
        try:
            await client.execute("balloon", {"value": memory * MiB})
            if await balloon_size(client) == memory:
                return True
            await changed
        except (QmpError, QmpLost):
            raise
        except HypervisorError:
            return await balloon_size(client) == memory
        finally:
            changed.addErrback(lambda _: None)
            changed.cancel()
    return False


async def balloon_size(client: QmpClient) -> int | None:
    """The guest's memory in MiB; None when it has no balloon."""
    try:
        answer = await client.execute("query-balloon", timeout=ASK_LIMIT)
    except QmpError:
        return None
    return int(answer["actual"]) // MiB
