"""A stage with an instance that has two disks and two NICs, a network, and a disk that nobody has."""

from typing import Any

from msgspec.structs import replace

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.model import opcodes as ops
from ganeti_tx.model.address_pool import AddressPool
from ganeti_tx.model.disk import Disk
from ganeti_tx.model.enums import AdminState, DiskTemplate
from ganeti_tx.model.instance import Instance
from ganeti_tx.model.nic import Nic
from ganeti_tx.model.opcodes import OpCode
from ganeti_tx.rpc.calls.base import Question
from ganeti_tx.rpc.calls.disk import BlockdevFind
from ganeti_tx.rpc.calls.hotplug import HotplugDevice, HotplugSupported, InstanceBalloonMemory
from ganeti_tx.test.logic.network.test_networks import CONNECTED, LAN
from ganeti_tx.test.logic.stage import FILE_DIR, FILE_DISK, INSTANCE, UnitTestCase

WEB1 = "web1.example.com"
FIRST = replace(FILE_DISK, name="root")
SECOND = replace(
    FILE_DISK,
    uuid="disk2-uuid",
    name="log",
    iv_name="disk/1",
    size=2048,
    logical_id=("loop", f"{FILE_DIR}/{WEB1}/disk1"),
)
FREE = replace(
    FILE_DISK, uuid="free-uuid", name="old", iv_name="", logical_id=("loop", f"{FILE_DIR}/{WEB1}/old"), size=1500
)
ELSEWHERE = replace(FREE, uuid="elsewhere-uuid", name="far", nodes=("node2-uuid",))
VOLUME = replace(
    FREE, uuid="volume-uuid", name="volume", dev_type=DiskTemplate.PLAIN, logical_id=("xenvg", "old"), nodes=()
)
PLAIN_NIC = Nic(uuid="nic-uuid", mac="aa:00:00:00:00:01", nicparams={}, name="out")
INNER_NIC = Nic(
    uuid="nic2-uuid",
    mac="aa:00:00:00:00:02",
    nicparams={"mode": "bridged", "link": "br0", "vlan": ""},
    network=LAN.uuid,
    ip="198.51.100.4",
    name="in",
)
OTHER = replace(
    INSTANCE,
    uuid="inst2-uuid",
    name="web2.example.com",
    disks=(),
    network_port=None,
    nics=(Nic(uuid="nic3-uuid", mac="aa:00:00:00:00:03", nicparams={}),),
)
WITH_ALL = replace(
    CONNECTED,
    networks={**CONNECTED.networks, LAN.uuid: AddressPool(LAN).taking("198.51.100.4")},
    instances={
        INSTANCE.uuid: replace(INSTANCE, nics=(PLAIN_NIC, INNER_NIC), disks=(FIRST.uuid, SECOND.uuid)),
        OTHER.uuid: OTHER,
    },
    disks={disk.uuid: disk for disk in (FIRST, SECOND, FREE, ELSEWHERE, VOLUME)},
)


def changed(config: Any, **fields: Any) -> Any:
    """The configuration with web1 otherwise."""
    held = config.instances[INSTANCE.uuid]
    return replace(config, instances={**config.instances, held.uuid: replace(held, **fields)})


UP = changed(WITH_ALL, admin_state=AdminState.UP, disks_active=True)


def modify(name: str = WEB1, **params: Any) -> OpCode:
    """A request as clients write it."""
    return ops.decode({"OP_ID": "OP_INSTANCE_SET_PARAMS", "instance_name": name, **params})


class ModifyCase(UnitTestCase):
    """Changes of web1, which is down unless `initial` says otherwise."""

    initial = WITH_ALL

    def setUp(self) -> None:
        super().setUp()
        self.nodes.succeed(HotplugSupported, HotplugDevice, InstanceBalloonMemory)
        self.nodes.answer(BlockdevFind, None)

    @property
    def web1(self) -> Instance:
        """The instance as it is."""
        return self.stage.snapshot.instances[INSTANCE.uuid]

    def disks(self) -> list[Disk]:
        """Its disks."""
        return [self.stage.snapshot.disks[uuid] for uuid in self.web1.disks]

    def told(self, **params: Any) -> dict[str, Any]:
        """What is told of a change that succeeds."""
        return dict(self.run_op(modify(**params)))

    def bad(self, code: ECode, words: str, name: str = WEB1, **params: Any) -> None:
        """A request is refused for a reason, in one line, and nothing is touched."""
        before, sent = self.stage.snapshot, len(self.nodes.sent)
        error = self.failureResultOf(self.stage.run(modify(name, **params)), OpPrereqError).value
        text, kind = error.args
        self.assertEqual((kind, words in text, "\n" in text), (code, True, False), f"{params}: {kind} {text}")
        self.assertIs(self.stage.snapshot, before, str(params))
        acted = [call.name for _, call in self.nodes.sent[sent:] if not isinstance(call, Question)]
        self.assertEqual(acted, [], str(params))
