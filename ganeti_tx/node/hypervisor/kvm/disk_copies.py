"""The disks of a running QEMU, written to another one that waits for it: over NBD, by block jobs, one for each disk.

From the moment at which a copy is whole the guest's writes are done when both have them, so that the copy stays whole.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.migration import DiskCopyProgress
from ganeti_tx.node.hypervisor.kvm.command.disks import drive_id
from ganeti_tx.node.hypervisor.kvm.disk_growth import address, names, node_name, seen_size
from ganeti_tx.node.hypervisor.kvm.migration_link import connected
from ganeti_tx.node.hypervisor.kvm.qmp import QmpClient, QmpError
from ganeti_tx.node.hypervisor.kvm.source_only import listening

#: Before a disk's uuid, in the name of the job.
JOB = "copy-"
#: QEMU's name of the socket at which it listens.
LISTENER = "disk-copies"
#: A job that is over, and has yet to be taken note of.
ENDED = "concluded"
#: Seconds until a job that was told to has ended, and between looks.
END_LIMIT = 30.0
PAUSE = 0.01


def copy_node(number: int) -> str:
    """QEMU's name of the other node's disk; it takes no whole uuid."""
    return f"{JOB}{number}"


async def offer(client: QmpClient, uuids: Sequence[str], where: str, credentials: str, source: str) -> int:
    """Let each disk be written from elsewhere; the port. @raise HypervisorError: it cannot be.

    @param source: the only address that can connect; see `source_only`.
    """
    await withdraw(client)
    found = [await _device(client, uuid) for uuid in uuids]
    with listening(where, 0, source) as listener:
        port: int = listener.getsockname()[1]
        await client.execute("getfd", {"fdname": LISTENER}, descriptor=listener.fileno())
    known = {"tls-creds": credentials} if credentials else {}
    await client.execute("nbd-server-start", {"addr": {"type": "fd", "data": {"str": LISTENER}}, **known})
    for number, (uuid, device) in enumerate(zip(uuids, found, strict=True)):
        export = {"id": copy_node(number), "type": "nbd", "node-name": node_name(device), "name": uuid}
        await client.execute("block-export-add", {**export, "writable": True})
    return port


async def withdraw(client: QmpClient) -> None:
    """Let nobody write the disks from elsewhere."""
    try:
        await client.execute("nbd-server-stop")
    except QmpError:
        pass  # nobody could


async def _device(client: QmpClient, uuid: str) -> Mapping[str, Any]:
    """What QEMU tells of a disk. @raise HypervisorError: it does not have it."""
    for device in await client.execute("query-block"):
        if drive_id(uuid) in names(device) or f"disk-{uuid}" in names(device):
            return dict(device)
    raise HypervisorError(f"it runs without its disk {uuid}")


async def begin(
    client: QmpClient,
    clock: IReactorTime,
    uuids: Sequence[str],
    place: tuple[str, int, str],
    known: Mapping[str, str],
) -> None:
    """Begin to copy each disk. @param place: address and port there, and the address here.

    The guest does not stand still until there is a connection, as it does while QEMU makes one.
    @raise HypervisorError: one cannot be copied.
    """
    sparse = {"discard": "unmap", "detect-zeroes": "unmap"}
    for number, uuid in enumerate(uuids):
        device = await _device(client, uuid)
        server = {"type": "fd", "str": copy_node(number)}
        node = {"driver": "nbd", "node-name": copy_node(number), "server": server, "export": uuid, **sparse, **known}
        async with connected(clock, *place) as link:
            await client.execute("getfd", {"fdname": copy_node(number)}, descriptor=link.fileno())
            await client.execute("blockdev-add", node)
        await _check_alike(client, uuid, seen_size(device), number)
        [name] = address(device).values()
        job = {"job-id": JOB + uuid, "device": name, "target": copy_node(number), "sync": "full"}
        how = {"copy-mode": "write-blocking", "on-target-error": "report", "auto-dismiss": False}
        await client.execute("blockdev-mirror", {**job, **how})


async def _check_alike(client: QmpClient, uuid: str, size: int, number: int) -> None:
    """@raise HypervisorError: the other node's disk, which is made as long as is recorded, is longer or shorter."""
    nodes = await client.execute("query-named-block-nodes", {"flat": True})
    [there] = [node["image"]["virtual-size"] for node in nodes if node.get("node-name") == copy_node(number)]
    if there != size:
        raise HypervisorError(
            f"disk {uuid} has {size} bytes, and its copy would have {there}; if that is what is recorded,"
            " 'gnt-cluster repair-disk-sizes' has the size recorded that it has"
        )


async def jobs(client: QmpClient) -> list[Mapping[str, Any]]:
    """The copies under way, or over."""
    return [job for job in await client.execute("query-jobs") if str(job["id"]).startswith(JOB)]


async def progress(client: QmpClient) -> DiskCopyProgress:
    """How far all are together."""
    found = await jobs(client)
    faults = [f"disk {str(job['id']).removeprefix(JOB)}: {job['error']}" for job in found if job.get("error")]
    return DiskCopyProgress(
        whole=bool(found) and all(job["status"] == "ready" for job in found),
        copied=sum(int(job["current-progress"]) for job in found),
        total=sum(int(job["total-progress"]) for job in found),
        fault="; ".join(faults),
    )


async def part(client: QmpClient, clock: IReactorTime) -> None:
    """Leave the copies as they are, whole, while the guest stands still. @raise HypervisorError: one is not whole."""
    await _end(client, clock, force=False)
    if fault := (await progress(client)).fault:
        raise HypervisorError(f"a copy is not whole: {fault}")


async def drop(client: QmpClient, clock: IReactorTime) -> None:
    """Copy no more, and leave nothing of it here."""
    await _end(client, clock, force=True)
    for job in await jobs(client):
        await client.execute("job-dismiss", {"id": job["id"]})
    nodes = await client.execute("query-named-block-nodes", {"flat": True})
    for name in [str(node.get("node-name")) for node in nodes]:
        if name.startswith(JOB):
            await client.execute("blockdev-del", {"node-name": name})


async def _end(client: QmpClient, clock: IReactorTime, force: bool) -> None:
    for job in await jobs(client):
        if job["status"] != ENDED:
            await client.execute("block-job-cancel", {"device": job["id"], "force": force})
    for _ in range(int(END_LIMIT / PAUSE)):
        if all(job["status"] == ENDED for job in await jobs(client)):
            return
        await deferLater(clock, PAUSE)
    raise HypervisorError("the copies of its disks do not end")
