"""Random changes by several owners, with a disk that fails now and then: memory and disk agree, and all stays sound."""

import errno
from collections.abc import Awaitable, Callable
from random import Random
from typing import Any

from msgspec.structs import replace
from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.config.local import LocalConfig
from ganeti_tx.config.reservations import Reservations
from ganeti_tx.config.verify import verify
from ganeti_tx.errors import GanetiError
from ganeti_tx.model.config_data import decode
from ganeti_tx.model.enums import AdminState, AdminStateSource, TagKind
from ganeti_tx.test.config.stores import PATHS, SlowFiles, config_of, loaded
from ganeti_tx.test.model.samples import DISK, INSTANCE, NETWORK, NODE, NODE2, VOLUME

STEPS = 300
FULL = OSError(errno.ENOSPC, "No space left on device")


class WalkTests(SynchronousTestCase):
    """Each seed is one history."""

    def setUp(self) -> None:
        self.files = SlowFiles()
        self.store = loaded(self.files)
        self.reservations = Reservations()
        self.owners = [config_of(self.store, self.reservations, (job, f"livelock-{job}"), job) for job in range(3)]
        self.failed = 0

    def pick(self, random: Random) -> str | None:
        """Some instance that is on disk."""
        return random.choice(sorted(self.store.snapshot.instances) or [None])

    async def add(self, random: Random, config: LocalConfig) -> None:
        """An instance with all that can be reserved for it."""
        uuid, port, mac = await config.generate_uuid(), await config.allocate_port(), await config.generate_mac(None)
        nic = replace(INSTANCE.nics[0], uuid=await config.generate_uuid(), mac=mac)
        if random.random() < 0.5:
            nic = replace(nic, network=NETWORK.uuid, ip=await config.generate_ip("lan"))
        disk = await config.generate_uuid()
        first, second = await config.allocate_minors([NODE.uuid, NODE2.uuid])
        where = (NODE.uuid, NODE2.uuid, await config.allocate_port(), first, second, await config.generate_secret())
        volume = replace(VOLUME, uuid=f"{disk}-data", logical_id=("vg", disk))
        mirror = replace(DISK, uuid=disk, logical_id=where, children=(volume,))
        await config.add_instance(
            replace(INSTANCE, uuid=uuid, name=f"i{uuid}", nics=(nic,), disks=(), network_port=port), [mirror]
        )

    async def remove(self, random: Random, config: LocalConfig) -> None:
        """An instance goes."""
        if (uuid := self.pick(random)) is not None:
            await config.remove_instance(uuid)

    async def switch(self, random: Random, config: LocalConfig) -> None:
        """An instance is wanted up or down."""
        if (uuid := self.pick(random)) is not None:
            state = random.choice([AdminState.UP, AdminState.DOWN])
            await config.set_instance_state(uuid, state, AdminStateSource.ADMIN, True)

    async def rename(self, random: Random, config: LocalConfig) -> None:
        """An instance is updated from what is on disk, which may be too old."""
        if (uuid := self.pick(random)) is not None:
            name = random.choice(["same", f"n{random.random()}"])
            await config.update_instance(replace(self.store.snapshot.instances[uuid], name=name))

    async def tag(self, random: Random, config: LocalConfig) -> None:
        """The cluster gets a tag."""
        await config.change_tags(TagKind.CLUSTER, None, [f"t{random.randrange(50)}"], [])

    async def drop(self, random: Random, config: LocalConfig) -> None:
        """A job ends."""
        await config.drop_reservations()

    def refused(self, failure: Any) -> None:
        """Changes may be refused, with an error of ours."""
        failure.trap(GanetiError)
        self.failed += 1

    def disk_moves(self, random: Random) -> None:
        """The oldest write ends, one way or the other; then all is as it should be."""
        if random.random() < 0.15:
            self.files.fail(FULL)
        else:
            self.files.finish()
        self.assertEqual(self.store.snapshot, decode(self.files.read(PATHS.config_file, 1 << 24)))
        self.assertEqual(verify(self.store.snapshot), [])

    def walk(self, seed: int) -> None:
        """One history."""
        random = Random(seed)
        verbs: list[Callable[[Random, LocalConfig], Awaitable[None]]] = [
            self.add, self.add, self.remove, self.switch, self.rename, self.tag, self.drop
        ]  # fmt: skip
        self.files.slow = True
        pending = []
        for _ in range(STEPS):
            work: Any = random.choice(verbs)(random, random.choice(self.owners))
            pending.append(Deferred.fromCoroutine(work).addErrback(self.refused))
            while self.files.under_way and random.random() < 0.5:
                self.disk_moves(random)
        while self.files.under_way:
            self.disk_moves(random)
        for each in pending:
            self.successResultOf(each)
        self.assertIs(self.store.newest, self.store.snapshot)
        self.assertGreater(self.store.snapshot.serial_no, 20)
        self.assertLess(self.failed, STEPS)

    def test_first(self) -> None:
        """A history."""
        self.walk(1)

    def test_second(self) -> None:
        """Another one."""
        self.walk(2)

    def test_third(self) -> None:
        """And one more."""
        self.walk(3)
