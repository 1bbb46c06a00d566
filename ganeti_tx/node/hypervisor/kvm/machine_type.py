"""Of what type a running machine is: "pc" is another one with each version of QEMU, and a machine stays what it was started as."""

from ganeti_tx.node.hypervisor.kvm.qmp import QmpClient

_ENDING = "-machine"


async def machine_type(client: QmpClient) -> str:
    """QEMU's type with its version, such as "pc-i440fx-7.2"."""
    kind = str(await client.execute("qom-get", {"path": "/machine", "property": "type"}))
    return kind.removesuffix(_ENDING)
