"""The way of one instance, over Remote APIs that only pretend."""

import contextlib
import io
from collections.abc import Mapping
from typing import Any, cast

from attrs import define, field
from msgspec.structs import replace
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import ECode, GenericError, OpExecError, OpPrereqError
from ganeti_tx.move_instance.command_words import parser, read_words
from ganeti_tx.move_instance.main import move_all
from ganeti_tx.move_instance.move import check_clusters
from ganeti_tx.move_instance.new_instance import nics_of, without_memory
from ganeti_tx.rapi.operations.openapi import document
from ganeti_tx.rapi_client import Client, RapiError
from ganeti_tx.rapi_client.records.cluster import ClusterInfo
from ganeti_tx.rapi_client.records.job import Job, JobChange

INFO: dict[str, Any] = {
    "name": "web1.example.com",
    "config_state": "up",
    "disk_template": "plain",
    "disks": [{"size": 1024, "mode": "rw", "name": "root"}, {"size": 64, "mode": "ro", "name": None}],
    "nics": [
        [None, "u-0", None, "aa:00:00:00:00:01", "bridged", "br0", "", None, None],
        ["eth1", "u-1", "192.0.2.7", "aa:00:00:00:00:02", "bridged", "br1", "", "u-net", {"name": "lan"}],
    ],
    "os": "debian",
    "os_instance": {"lang": "C"},
    "hypervisor": "kvm",
    "hv_instance": {"acpi": True},
    "be_instance": {"maxmem": 512, "minmem": 256},
}
#: Of the destination, whose interfaces are tied to other links.
SETTINGS = ClusterInfo(
    name="there",
    uuid="u-there",
    master="n1",
    software_version="3.0.2",
    protocol_version=3000000,
    config_version=3000000,
    os_api_version=20,
    export_version=0,
    default_hypervisor="kvm",
    enabled_hypervisors=("kvm", "lxc"),
    hvparams={"kvm": {"kernel_path": "/boot/vmlinuz"}},
    os_hvp={"debian": {"kvm": {"kernel_path": "/srv/linux"}}},
    beparams={},
    nicparams={"default": {"mode": "bridged", "link": "br0", "vlan": ""}},
    candidate_pool_size=1,
    mac_prefix="aa:00:00",
    master_netdev="eth0",
    master_netmask=32,
)
PREPARED = {"handshake": [0, "digest", "salt"], "x509_ca": "signed", "x509_key_name": ["key", "digest", "salt"]}
TOLD = {"disks": [["192.0.2.9", 1, "magic1", "digest", "salt"]] * 2, "x509_ca": "signed there"}


@define
class Named:
    """As much of an instance as is asked for."""

    name: str


@define
class PretendedClient:
    """A Remote API whose jobs end at once. @ivar outcomes: of jobs by what they do, the next one first: errors or results."""

    outcomes: dict[str, list[Any]] = field(factory=dict)
    asked: list[tuple[str, dict[str, Any]]] = field(factory=list)
    jobs: list[str] = field(factory=list)
    features: tuple[str, ...] = ("instance-create-reqv1",)
    described: dict[str, Any] | None = None
    allocator: str | None = None
    version: int = 2
    silent: bool = False

    def get_version(self) -> int:
        return self.version

    def get_features(self) -> tuple[str, ...]:
        return self.features

    def get_openapi(self) -> dict[str, Any]:
        """As little of it as is asked for; Ganeti has none."""
        if self.described is None:
            raise RapiError(404, "not found")
        return self.described

    def get_info(self) -> Any:
        if self.silent:
            raise RapiError(403, "user mover may not do GET /2/info")
        return replace(SETTINGS, default_iallocator=self.allocator)

    def get_instance(self, name: str) -> Named:
        if name == "nosuch":
            raise RapiError(404, "there is no instance 'nosuch'")
        return Named("web1.example.com")

    def _submit(self, kind: str, arguments: Mapping[str, Any]) -> int:
        self.asked.append((kind, dict(arguments)))
        self.jobs.append(kind)
        return len(self.jobs) - 1

    def get_instance_info(self, name: str, *, static: bool) -> int:
        return self._submit("info", {"name": name, "static": static})

    def prepare_export(self, name: str, mode: str) -> int:
        return self._submit("prepare", {"name": name, "mode": mode})

    def create_instance(self, **arguments: Any) -> int:
        return self._submit("create", arguments)

    def export_instance(self, name: str, mode: str, disks: Any, **arguments: Any) -> int:
        return self._submit("export", {"name": name, "mode": mode, "disks": disks, **arguments})

    def cancel_job(self, job_id: int) -> None:
        self.asked.append(("cancel", {"id": job_id}))

    def wait_for_job_change(self, job_id: int, fields: Any, known: Any, serial: Any) -> JobChange:
        kind = self.jobs[job_id]
        if kind == "create" and not isinstance(self.outcome(kind), OpPrereqError) and serial is None:
            log = ([1, [0, 0], "message", "creating"], [2, [0, 0], "remote-import", TOLD])
            return JobChange(job_info=("running",), log_entries=log)
        return JobChange(job_info=("success",), log_entries=())

    def wait_for_job(self, job_id: int) -> Job:
        kind = self.jobs[job_id]
        outcome = self.outcome(kind)
        if len(self.outcomes.get(kind, ())) > 1:
            self.outcomes[kind].pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return Job(id=job_id, status="success", opresult=(outcome,))

    def outcome(self, kind: str) -> Any:
        """Of the next job that does this."""
        usual: dict[str, Any] = {"info": {"web1.example.com": INFO}, "prepare": PREPARED}
        return self.outcomes.get(kind, [usual.get(kind)])[0]


class MoveTests(SynchronousTestCase):
    """What each side is asked, and what is told."""

    def setUp(self) -> None:
        self.source, self.destination = PretendedClient(), PretendedClient()

    def moved(self, *words: str, instances: tuple[str, ...] = ("web1",)) -> tuple[int, str]:
        """The exit status, and what is printed."""
        out, err = io.StringIO(), io.StringIO()
        wanted = read_words(parser(), ["--dest-primary-node=n1", *words, "here", "there", *instances])
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = move_all(cast(Client, self.source), cast(Client, self.destination), wanted)
        self.steps = err.getvalue()
        return status, out.getvalue()

    def test_moved(self) -> None:
        """In Ganeti's order, and with nothing but what the instance has of its own."""
        self.assertEqual(self.moved("--net=0:link=br9", "-B", "memory=1G"), (0, "web1: success\n"))
        self.assertEqual([kind for kind, _ in self.source.asked], ["info", "prepare", "export"])
        [(_, created)] = self.destination.asked
        self.assertEqual(
            created,
            {
                "mode": "remote-import",
                "name": "web1.example.com",
                "disk_template": "plain",
                "disks": [{"size": 1024, "mode": "rw", "name": "root"}, {"size": 64, "mode": "ro"}],
                "nics": [
                    {"mac": "aa:00:00:00:00:01", "mode": "bridged", "link": "br9"},
                    {"mac": "aa:00:00:00:00:02", "ip": "192.0.2.7", "network": "lan", "name": "eth1"},
                ],
                "os_type": "debian",
                "osparams": {"lang": "C"},
                "hypervisor": "kvm",
                "hvparams": {"acpi": True},
                "beparams": {"maxmem": 1024, "minmem": 1024},
                "ip_check": False,
                "start": True,
                "compress": "none",
                "source_handshake": [0, "digest", "salt"],
                "source_x509_ca": "signed",
                "source_instance_name": "web1.example.com",
                "opportunistic_locking": False,
                "pnode": "n1",
            },
        )
        _, exported = self.source.asked[-1]
        wanted = {
            "disks": TOLD["disks"],
            "destination_x509_ca": "signed there",
            "x509_key_name": PREPARED["x509_key_name"],
            "shutdown": True,
            "remove_instance": True,
            "mode": "remote",
        }
        self.assertEqual({key: exported[key] for key in wanted}, wanted)

    def test_hvparams(self) -> None:
        """By what reaches into a node the source does not say how programs run there, unless the destination has it so, too."""
        own = {"acpi": False, "kvm_path": "/tmp/evil", "kvm_extra": "-snapshot", "kernel_path": "/srv/linux"}
        self.source.outcomes["info"] = [{"web1.example.com": {**INFO, "hv_instance": own}}]
        self.assertEqual(self.moved("-H", "kvm_extra=-no-hpet"), (0, "web1: success\n"))
        [(_, created)] = self.destination.asked
        self.assertEqual(created["hvparams"], {"acpi": False, "kernel_path": "/srv/linux", "kvm_extra": "-no-hpet"})
        [told] = [line for line in self.steps.splitlines() if "hypervisor parameter" in line]
        self.assertRegex(
            told, "^web1: WARNING: .* kvm_path of the source is left out.*: '/tmp/evil'; .*: -H kvm_path=...$"
        )

    def test_hypervisor(self) -> None:
        """One that does not keep guests from their node is named here, or nothing is moved."""
        self.source.outcomes["info"] = [
            {"web1.example.com": {**INFO, "hypervisor": "lxc", "hv_instance": {"cpu_mask": "1"}}}
        ]
        status, out = self.moved()
        self.assertEqual(status, 1)
        self.assertRegex(out, "^web1: failed: the source has the hypervisor lxc, .*: --dest-hypervisor=lxc$")
        self.assertEqual(self.destination.asked, [])
        for word, hvparams in (("lxc", {"cpu_mask": "1"}), ("kvm", {})):
            self.destination = PretendedClient()
            self.assertEqual(self.moved(f"--dest-hypervisor={word}"), (0, "web1: success\n"))
            [(_, created)] = self.destination.asked
            self.assertEqual((created["hypervisor"], created["hvparams"]), (word, hvparams))
        self.source.outcomes["info"] = [{"web1.example.com": {**INFO, "hypervisor": "odd"}}]
        self.assertRegex(self.moved()[1], "failed: the source has hypervisor 'odd'; known are chroot,")
        self.destination = PretendedClient()
        self.source.outcomes["info"] = [{"web1.example.com": {**INFO, "hypervisor": "odd"}}]
        self.assertEqual(self.moved("--dest-hypervisor=kvm"), (0, "web1: success\n"))

    def test_places(self) -> None:
        """To what interfaces are tied is told, where the destination has another and the command line says none."""
        self.moved()
        [told] = self.steps.splitlines()
        self.assertRegex(
            told, "^web1: WARNING: nic/1 is tied to its node as the source says, .*: network 'lan'; .*: --net 1:"
        )
        self.source.outcomes["info"] = [{"web1.example.com": {**INFO, "nics": [[*INFO["nics"][0][:5], "mgmt0", "7"]]}}]
        self.moved("--net=0:vlan=9")
        self.assertRegex(self.steps, "nic/0 .* has it: link 'mgmt0'; if")
        self.moved("--net=0:vlan=9,link=br0")
        self.assertEqual(self.steps, "")

    def test_formats(self) -> None:
        """An image stays one where the destination knows of these, and disks of that template can be any; else that is told."""
        images = {
            **INFO,
            "disk_template": "file",
            "disks": [{"size": 64, "mode": "rw", "format": "qcow2"}, INFO["disks"][1]],
        }
        self.source.outcomes["info"] = [{"web1.example.com": images}]
        plain = "--dest-disk-template=plain"
        knows = {"info": document([])["info"]}
        for described, words, format, told in (
            (knows, (), "qcow2", False),
            ({"info": {}}, (), None, True),
            (None, (), None, True),
            (knows, (plain,), None, True),
        ):
            self.destination = PretendedClient(described=described)
            self.assertEqual(self.moved("-v", *words), (0, "web1: success\n"))
            [(_, created)] = self.destination.asked
            self.assertEqual([disk.get("format") for disk in created["disks"]], [format, None])
            self.assertEqual("disk 0 becomes raw: there has no qcow2 for it" in self.steps, told, self.steps)

    def test_kept(self) -> None:
        """It is not removed, but down as long as it is copied."""
        self.moved("--keep-source-instance")
        self.assertEqual([self.source.asked[-1][1][key] for key in ("remove_instance", "long_sleep")], [False, True])

    def test_source_fails(self) -> None:
        """The destination is told to give it up, and both say why."""
        self.source.outcomes["export"] = [OpExecError("broken off")]
        self.destination.outcomes["create"] = [OpExecError("not connected")]
        status, out = self.moved()
        self.assertEqual(status, 1)
        self.assertEqual(out, "web1: failed: job 2 of here: broken off; job 0 of there: not connected\n")
        self.assertIn(("cancel", {"id": 0}), self.destination.asked)

    def test_destination_refuses(self) -> None:
        """Nothing is exported."""
        self.destination.outcomes["create"] = [OpPrereqError("no room", ECode.NORES)]
        self.assertEqual(self.moved(), (1, "web1: failed: job 0 of there: no room\n"))
        self.assertNotIn("export", self.source.jobs)

    def test_several(self) -> None:
        """One that fails keeps no other back."""
        wanted = read_words(parser(), ["-I", "hail", "-p", "2", "here", "there", "nosuch", "web1"])
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            status = move_all(cast(Client, self.source), cast(Client, self.destination), wanted)
        self.assertEqual(status, 1)
        self.assertEqual(
            out.getvalue(), "nosuch: failed: there is no instance 'nosuch' (HTTP status 404)\nweb1: success\n"
        )

    def test_opportunistic(self) -> None:
        """What is busy now is tried again as a whole; the last try waits for locks."""
        busy = OpPrereqError("busy", ECode.TEMP_NORES)
        self.destination.outcomes["create"] = [busy, busy, None]
        wanted = ["-I", "hail", "--opportunistic-tries=2", "--opportunistic-delay=0", "here", "there", "web1"]
        with contextlib.redirect_stdout(io.StringIO()):
            status = move_all(cast(Client, self.source), cast(Client, self.destination), read_words(parser(), wanted))
        self.assertEqual(status, 0)
        tries = [asked["opportunistic_locking"] for kind, asked in self.destination.asked if kind == "create"]
        self.assertEqual(tries, [True, True, False])
        self.assertEqual(self.source.jobs.count("prepare"), 3)

    def test_clusters(self) -> None:
        """What cannot be moved there is told before anything is done."""

        def refused(*words: str) -> str:
            wanted = read_words(parser(), [*words, "here", "there", "web1"])
            try:
                check_clusters(cast(Client, self.source), cast(Client, self.destination), wanted)
            except GenericError as error:
                return str(error)
            return ""

        self.assertIn("there has no default allocator", refused())
        self.assertEqual(refused("-I", "hail"), "")
        self.destination.silent = True
        self.assertIn("give the user or token the right to read 'info'", refused("-I", "hail"))
        self.destination.silent = False
        self.destination.features = ()
        self.assertIn("Remote API of there is too old", refused("-I", "hail"))
        self.source.version = 1
        self.assertIn("Remote API of here has version 1", refused("-I", "hail"))

    def test_nics(self) -> None:
        """One that is not there cannot be changed; shorter lists of older clusters are read."""
        error = self.assertRaises(OpPrereqError, nics_of, INFO["nics"], {2: {"link": "x"}})
        self.assertIn("--net 2: the instance has 2 network interfaces", str(error))
        self.assertEqual(
            nics_of([["n", "u", None, "aa:00:00:00:00:01"]], {}), [{"mac": "aa:00:00:00:00:01", "name": "n"}]
        )
        self.assertEqual(without_memory({"memory": 5, "maxmem": 7}), {"minmem": 5, "maxmem": 7})
