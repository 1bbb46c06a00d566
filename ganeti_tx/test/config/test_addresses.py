"""Any history of instances that come, change and go: each address has one holder at most, and is marked while it has one."""

from collections import Counter
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test
from msgspec.structs import replace
from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.config.local import LocalConfig
from ganeti_tx.config.reservations import Reservations
from ganeti_tx.config.verify import verify
from ganeti_tx.errors import GanetiError
from ganeti_tx.model.address_pool import AddressPool
from ganeti_tx.model.network import Network
from ganeti_tx.test.config.stores import config_of, loaded
from ganeti_tx.test.fakes.files import MemoryFiles
from ganeti_tx.test.logic.stage import CONFIG, GROUP
from ganeti_tx.test.model.samples import INSTANCE, NIC

LAN = AddressPool(
    Network(serial_no=1, uuid="lan-uuid", name="lan", network="198.51.100.0/29", gateway="198.51.100.1")
).with_own_addresses()
WAN = replace(LAN, uuid="wan-uuid", name="wan")
NETWORKS = (LAN, WAN)
START = replace(
    CONFIG,
    networks={each.uuid: each for each in NETWORKS},
    nodegroups={GROUP.uuid: replace(GROUP, networks={each.uuid: {} for each in NETWORKS})},
    instances={},
    disks={},
)
JOBS = st.integers(0, 2)
NETWORK = st.sampled_from(NETWORKS)
#: In the network's order; 8 is outside.
PLACE = st.integers(0, 8)
NAME = st.sampled_from("abcd")
#: Where an address comes from: a pool, given and reserved, given without asking, nowhere.
ORIGIN = st.sampled_from(("pool", "reserved", "unasked", "none"))


class Addresses(RuleBasedStateMachine):
    """Three jobs over one configuration."""

    def __init__(self) -> None:
        super().__init__()
        self.store = loaded(MemoryFiles(), START)
        self.reservations = Reservations()
        self.jobs = [config_of(self.store, self.reservations, (job, f"livelock-{job}"), job) for job in range(3)]
        self.made = 0
        #: What jobs hold reserved, by network and address.
        self.reserved: dict[tuple[str, str], int] = {}

    def do(self, work: Any) -> Any:
        """The result; None when it is refused, which must change nothing."""
        before = self.store.snapshot
        found: list[Any] = []
        Deferred.fromCoroutine(work).addBoth(found.append)
        [result] = found
        if not hasattr(result, "trap"):
            return result
        result.trap(GanetiError)
        assert self.store.snapshot == before
        return None

    async def address(self, config: LocalConfig, network: Network, place: int, origin: str) -> str | None:
        """Of one NIC."""
        if origin == "none":
            return None
        if origin == "pool":
            return await config.generate_ip(network.name)
        given = f"198.51.100.{place}"
        if origin == "reserved":
            await config.reserve_ip(network.name, given)
        return given

    async def nic(self, config: LocalConfig, network: Network, place: int, origin: str) -> Any:
        """A new NIC."""
        self.made += 1
        ip = await self.address(config, network, place, origin)
        mac = f"aa:00:00:00:{self.made >> 8:02x}:{self.made & 255:02x}"
        return replace(NIC, uuid=f"nic-{self.made}", mac=mac, ip=ip, network=network.uuid)

    @rule(job=JOBS, name=NAME, network=NETWORK, places=st.lists(st.tuples(PLACE, ORIGIN), max_size=3))
    def add(self, job: int, name: str, network: Network, places: list[tuple[int, str]]) -> None:
        """An instance comes."""

        async def work() -> None:
            config = self.jobs[job]
            nics = tuple([await self.nic(config, network, *each) for each in places])
            await config.add_instance(
                replace(INSTANCE, uuid=f"{name}-uuid", name=name, nics=nics, disks=(), network_port=None), []
            )

        self.do(work())

    @rule(job=JOBS, name=NAME, network=NETWORK, place=PLACE, origin=ORIGIN, stale=st.booleans())
    def change(self, job: int, name: str, network: Network, place: int, origin: str, stale: bool) -> None:
        """An instance's first NIC gets another address, or comes to another network; what was read may be too old."""
        held = self.store.snapshot.instances.get(f"{name}-uuid")
        if held is None:
            return

        async def work() -> None:
            nic = await self.nic(self.jobs[job], network, place, origin)
            serial = held.serial_no - stale
            await self.jobs[job].update_instance(replace(held, nics=(nic, *held.nics[1:]), serial_no=serial))

        self.do(work())

    @rule(job=JOBS, name=NAME)
    def remove(self, job: int, name: str) -> None:
        """An instance goes."""
        self.do(self.jobs[job].remove_instance(f"{name}-uuid"))

    @rule(job=JOBS)
    def end(self, job: int) -> None:
        """A job ends: what it did not use is free."""
        self.do(self.jobs[job].drop_reservations())

    @rule(job=JOBS, network=NETWORK, place=st.integers(1, 6))
    def keep(self, job: int, network: Network, place: int) -> None:
        """The administrator keeps an address from instances, by what was read before others changed theirs."""
        held = self.store.snapshot.networks[network.uuid]
        marked = AddressPool(held).reserving(f"198.51.100.{place}")
        self.do(self.jobs[job].update_network(replace(marked, reservations=network.reservations)))

    @rule(job=JOBS, network=NETWORK)
    def disconnect(self, job: int, network: Network) -> None:
        """The network leaves the group and comes back; or it cannot leave."""
        used = any(nic.network == network.uuid for each in self.store.snapshot.instances.values() for nic in each.nics)
        if self.do(self.jobs[job].disconnect_network(network.uuid, GROUP.uuid)) is None:
            assert used
            return
        assert not used
        self.do(self.jobs[job].connect_network(network.uuid, GROUP.uuid, {"link": "br0"}))

    @invariant()
    def one_holder(self) -> None:
        """Nobody shares, and exactly what is held is marked."""
        config = self.store.snapshot
        held = Counter(
            (nic.network, nic.ip) for each in config.instances.values() for nic in each.nics if nic.ip is not None
        )
        assert not held or max(held.values()) == 1
        for network in config.networks.values():
            pool = AddressPool(network)
            marked = {str(each) for each in pool.range() if pool.is_instances(str(each))}
            assert marked == {ip for uuid, ip in held if uuid == network.uuid}
        assert verify(config) == []

    @invariant()
    def nothing_reserved_is_held(self) -> None:
        """What a job has reserved for itself no instance has yet."""
        for network in self.store.snapshot.networks.values():
            for address in self.reservations.values("address", network.uuid):
                assert not AddressPool(network).is_instances(str(address))


class AddressTests(SynchronousTestCase):
    """The machine, run."""

    def test_walk(self) -> None:
        """Many histories."""
        run_state_machine_as_test(Addresses, settings=settings(max_examples=100, stateful_step_count=30))

    def test_twice_in_one_instance(self) -> None:
        """An address that one NIC of an instance has no other NIC of it can get."""
        machine = Addresses()
        machine.add(0, "a", LAN, [(2, "reserved"), (3, "reserved")])
        before = machine.store.snapshot
        machine.change(0, "a", LAN, 3, "unasked", False)
        self.assertEqual(machine.store.snapshot, before)
        self.assertIn("a-uuid", before.instances)
