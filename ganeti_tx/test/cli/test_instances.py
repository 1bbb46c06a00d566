"""Tests of the commands of gnt-instance that change instances."""

from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import ExitCode, OpExecError
from ganeti_tx.test.cli.fakes import CommandLine, Outcome, Terminal, answer_of


class AddTests(SynchronousTestCase):
    """gnt-instance add."""

    def setUp(self) -> None:
        self.cli = CommandLine()

    def opcode(self, *words: str) -> dict[str, Any]:
        """The opcode that the words submit."""
        outcome = self.cli("gnt-instance", "add", *words, "web1")
        self.assertEqual((outcome.status, outcome.err), (0, ""))
        return self.cli.client.submitted[-1]

    def refusal(self, *words: str) -> Outcome:
        """What the words are answered, which submit nothing."""
        outcome = self.cli("gnt-instance", "add", *words, "web1")
        self.assertIn(outcome.status, (ExitCode.FAILURE, ExitCode.USAGE))
        self.assertEqual(self.cli.client.jobs, {})
        return outcome

    def test_least(self) -> None:
        """What was not given is not sent; there is one NIC with the cluster's defaults."""
        self.assertEqual(
            self.opcode("-s", "1g"),
            {
                "OP_ID": "OP_INSTANCE_CREATE",
                "instance_name": "web1",
                "mode": "create",
                "disks": [{"size": 1024}],
                "nics": [{}],
            },
        )

    def test_usual(self) -> None:
        """The usual options reach their parameters, in their types."""
        op = self.opcode(
            "-t", "drbd", "--disk", "0:size=1G,mode=rw", "--disk", "1:size=512m,spindles=2", "-o", "busybox+small",
            "-n", "node1:node2", "-B", "memory=1g,vcpus=2,no_auto_balance", "-H", "kvm:acpi=false,kernel_path=,cpu_cores=2",
            "--net", "0:ip=none,link=br0", "--net", "1:network=lan,ip=pool", "-O", "a=b", "--tags", "x,y", "--no-start",
            "--no-wait-for-sync", "--no-name-check", "--no-ip-check", "-c", "yes",
        )  # fmt: skip
        self.assertEqual(
            {key: value for key, value in op.items() if key not in ("OP_ID", "instance_name", "mode")},
            {
                "disk_template": "drbd",
                "disks": [{"size": 1024, "mode": "rw"}, {"size": 512, "spindles": 2}],
                "os_type": "busybox+small",
                "pnode": "node1",
                "snode": "node2",
                "beparams": {"memory": 1024, "vcpus": 2, "auto_balance": False},
                "hypervisor": "kvm",
                "hvparams": {"acpi": False, "kernel_path": "", "cpu_cores": 2},
                "nics": [{"ip": None, "link": "br0"}, {"network": "lan", "ip": "pool"}],
                "osparams": {"a": "b"},
                "tags": ["x", "y"],
                "start": False,
                "wait_for_sync": False,
                "name_check": False,
                "ip_check": False,
                "instance_communication": True,
            },
        )

    def test_old_spellings(self) -> None:
        """--hypervisor, and disks with access=w, are read as older designs wrote them."""
        op = self.opcode("--hypervisor", "kvm:acpi=true", "--disk", "0:size=4,access=r")
        self.assertEqual(
            (op["hypervisor"], op["hvparams"], op["disks"]), ("kvm", {"acpi": True}, [{"size": 4, "mode": "ro"}])
        )

    def test_devices(self) -> None:
        """A diskless instance has no disks, --no-nics leaves none, skipped NICs are plain, adopted disks need no size."""
        self.assertEqual(self.opcode("-t", "diskless", "--no-nics")["disks"], [])
        self.assertEqual(self.cli.client.submitted[-1]["nics"], [])
        op = self.opcode("--net", "2:link=br1", "--disk", "0:adopt=lv1")
        self.assertEqual((op["nics"], op["disks"]), ([{}, {}, {"link": "br1"}], [{"adopt": "lv1", "size": 0}]))

    def test_every_syntax(self) -> None:
        """Whatever Ganeti's table of syntaxes has for new instances is taken (reference: gnt-instance-syntax.json)."""
        for words, wanted in (
            (("--disk", "1:size=1g", "--disk", "0:size=1.5g,vg=v"), {"disks": [{"size": 1536, "vg": "v"}, {"size": 1024}]}),
            (
                ("--disk", "0:adopt=/dev/disk/x,mode=ro,name=a\\,b"),
                {"disks": [{"adopt": "/dev/disk/x", "mode": "ro", "name": "a,b", "size": 0}]},
            ),
            (
                ("-t", "ext", "--disk", "0:size=1g,provider=p,access=userspace,any=thing"),
                {"disks": [{"size": 1024, "provider": "p", "access": "userspace", "any": "thing"}]},
            ),
            (("-t", "drbd", "--disk", "0:size=4.1,metavg=m,spindles=2"), {"disks": [{"size": 8, "metavg": "m", "spindles": 2}]}),
            (("-s", "1t"), {"disks": [{"size": 1 << 20}]}),
            (("-s", "1", "--net", "0"), {"nics": [{}]}),
            (("-s", "1", "--net", "1:bridge=b,mac=auto"), {"nics": [{}, {"bridge": "b", "mac": "auto"}]}),
            (
                ("-s", "1", "--net", "0:mode=openvswitch,link=s,vlan=.5:6:7"),
                {"nics": [{"mode": "openvswitch", "link": "s", "vlan": ".5:6:7"}]},
            ),
            (("-s", "1", "--net", "0:network=lan,ip=pool,name=n"), {"nics": [{"network": "lan", "ip": "pool", "name": "n"}]}),
            (("-s", "1", "-H", "kvm"), {"hypervisor": "kvm"}),
            (("-s", "1", "-H", "kvm:no_acpi,kernel_path="), {"hvparams": {"acpi": False, "kernel_path": ""}}),
            (
                ("-s", "1", "-B", "minmem=1g,maxmem=513,auto_balance=true"),
                {"beparams": {"minmem": 1024, "maxmem": 516, "auto_balance": True}},
            ),
            (
                ("-s", "1", "-O", "a=default,b=null,c,no_d,-e"),
                {"osparams": {"a": "default", "b": "null", "c": True, "d": False, "e": None}},
            ),
            (("-s", "1", "-I", "."), {"iallocator": "."}),
            (("-s", "1", "-n", "p"), {"pnode": "p"}),
            (("-s", "1", "--tags", "a", "--tags", "b,c"), {"tags": ["b", "c"]}),
            (("-s", "1", "-c", "no"), {"instance_communication": False}),
            (("-s", "1", "--forthcoming", "--no-install"), {"forthcoming": True, "no_install": True}),
            (("--commit",), {"commit": True, "disks": []}),
        ):  # fmt: skip
            op = self.opcode(*words)
            self.assertEqual({name: op.get(name) for name in wanted}, wanted, words)

    def test_said_twice(self) -> None:
        """The last one of an index counts, and --net above --no-nics."""
        op = self.opcode("--disk", "0:size=1g", "--disk", "0:size=2g,mode=ro", "--net", "0:link=br1", "--no-nics")
        self.assertEqual((op["disks"], op["nics"]), ([{"size": 2048, "mode": "ro"}], [{"link": "br1"}]))

    def test_default_size(self) -> None:
        """A disk of which no size is said, or "auto", gets the cluster's."""
        op = self.opcode("--disk", "0:mode=ro", "--disk", "2:size=auto")
        self.assertEqual(op["disks"], [{"mode": "ro"}, {}, {}])

    def test_refused_devices(self) -> None:
        """Disks and NICs that make no sense are refused before anything is submitted."""
        for words, text in {
            (): "No disk information specified",
            ("-s", "1g", "--disk", "0:size=1g"): "Please use either the '--disk' or '-s' option",
            ("-t", "diskless", "-s", "1g"): "Diskless instance but disk information passed",
            ("--disk", "0:size=12Q"): "Disk 0: invalid size '12Q'",
            ("--disk", "a:size=1"): "--disk 'a': give an index",
            ("--disk", "9999999999:size=1"): "give an index from 0 to",
            ("-s", "1g", "--net", "0:colour=red"): "NIC 0: unknown parameter 'colour'",
            ("-s", "1g", "--net", "0:link"): "NIC 0: parameter 'link' needs a value",
            ("-s", "1g", "-n", ":b"): "names no primary node",
            ("-s", "1g", "-B", "ram=1"): "Unknown parameter 'ram'",
            ("-s", "1g", "-B", "vcpus=two"): "backend parameter 'vcpus': invalid number 'two'",
            ("-s", "1g", "-B", "vcpus"): "backend parameter 'vcpus' needs a value",
            ("-s", "1g", "-t", "tape"): "invalid choice: 'tape'",
        }.items():
            self.assertIn(text, self.refusal(*words).err, words)

    def test_private_parameters(self) -> None:
        """Private and secret parameters are sent, and shown nowhere."""
        op = self.opcode("-s", "4", "--os-parameters-private", "pw=hush", "--os-parameters-secret", "key=psst")
        self.assertEqual((op["osparams_private"], op["osparams_secret"]), ({"pw": "hush"}, {"key": "psst"}))


class PowerTests(SynchronousTestCase):
    """startup, shutdown and reboot, of one or many."""

    def setUp(self) -> None:
        self.cli = CommandLine()
        self.cli.client.answers["Query"] = self.query

    def query(self, resource: str, fields: list[str], chosen: list[Any] | None) -> dict[str, Any]:
        """Two instances; node1 is primary of one and secondary of the other."""
        if resource == "instance":
            return answer_of(("name", "text", "Instance"), rows=[["web1"], ["web2"]])
        lists = {"pinst_list": ["web2"], "sinst_list": ["web1"]}
        return answer_of(*((name, "other", name) for name in fields), rows=[[lists[name] for name in fields]])

    def test_one(self) -> None:
        """One instance by name needs no question."""
        outcome = self.cli("gnt-instance", "startup", "web1")
        self.assertEqual(outcome, (0, "Waiting for job 1 for web1 ...\n", ""))
        self.assertEqual(self.cli.client.submitted, [{"OP_ID": "OP_INSTANCE_STARTUP", "instance_name": "web1"}])

    def test_full_name(self) -> None:
        """What is told and submitted has full names, each once."""
        self.cli.client.answers["QueryInstances"] = lambda *args: [["web1.example.com", "a-uuid"]]
        outcome = self.cli("gnt-instance", "startup", "web1", "web1", "a-uuid")
        self.assertEqual(outcome, (0, "Waiting for job 1 for web1.example.com ...\n", ""))
        self.assertEqual([op["instance_name"] for op in self.cli.client.submitted], ["web1.example.com"])

    def test_unknown(self) -> None:
        """When none is there, nothing is submitted; one among others has a job, which fails and says so."""
        self.cli.client.answers["QueryInstances"] = lambda names, *args: [["web1", "a-uuid"]] if "web1" in names else []
        for verb in ("startup", "shutdown", "reboot", "reinstall"):
            outcome = self.cli("gnt-instance", verb, "web9")
            self.assertEqual((outcome.status, outcome.out), (1, ""))
            self.assertIn("error type: wrong_input, error details:\nSelection filter does not match any", outcome.err)
        self.assertEqual(self.cli.client.jobs, {})
        self.cli("gnt-instance", "startup", "--force-multiple", "web9", "web1")
        self.assertEqual([op["instance_name"] for op in self.cli.client.submitted], ["web1", "web9"])

    def test_aliases(self) -> None:
        """start and stop are spellings of startup and shutdown."""
        self.cli("gnt-instance", "start", "web1")
        self.cli("gnt-instance", "stop", "web1")
        ops = [op["OP_ID"] for op in self.cli.client.submitted]
        self.assertEqual(ops, ["OP_INSTANCE_STARTUP", "OP_INSTANCE_SHUTDOWN"])

    def test_options(self) -> None:
        """Options reach the opcodes; what the server assumes anyway is not sent."""
        self.cli("gnt-instance", "startup", "-H", "acpi=no", "-B", "memory=512", "--paused", "--no-remember", "web1")
        self.cli("gnt-instance", "shutdown", "--timeout=5", "--ignore-offline", "-f", "web1")
        self.cli("gnt-instance", "reboot", "-t", "soft", "--shutdown-timeout=120", "--ignore-secondaries", "web1")
        ops = [
            {key: value for key, value in op.items() if key not in ("OP_ID", "instance_name")}
            for op in self.cli.client.submitted
        ]
        self.assertEqual(
            ops,
            [
                {"hvparams": {"acpi": False}, "beparams": {"memory": 512}, "startup_paused": True, "no_remember": True},
                {"timeout": 5, "ignore_offline_nodes": True, "force": True},
                {"reboot_type": "soft", "ignore_secondaries": True},
            ],
        )

    def test_many(self) -> None:
        """Several instances are listed and asked about; each has a job of its own."""
        outcome = self.cli("gnt-instance", "reboot", "web1", "web2", stdin=Terminal("y\n"))
        self.assertIn(
            "The reboot will operate on 2 instances.\nDo you want to continue?\nAffected instances:\n  web1\n  web2\n"
            "y/[n]/?: ",
            outcome.err,
        )
        self.assertEqual(
            outcome.out, "Submitted jobs 1, 2\nWaiting for job 1 for web1 ...\nWaiting for job 2 for web2 ...\n"
        )
        self.assertEqual(self.cli.client.submitted[0]["reboot_type"], "hard")

    def test_declined(self) -> None:
        """Without a yes nothing is done."""
        for stdin in (Terminal("n\n"), None):
            self.assertEqual(self.cli("gnt-instance", "shutdown", "--all", stdin=stdin).status, 1)
        self.assertEqual(self.cli.client.jobs, {})

    def test_modes(self) -> None:
        """Instances are chosen by node, role on it, and tags."""
        both, web1, web2 = ["web1", "web2"], ["web1"], ["web2"]
        by_name, by_tag = ["|", ["==", "name", "x"]], ["|", ["=[]", "tags", "x"]]
        for flag, resource, chosen, names in (
            ("--node", "node", by_name, both),
            ("--primary", "node", by_name, web2),
            ("--secondary", "node", by_name, web1),
            ("--node-tags", "node", by_tag, both),
            ("--pri-node-tags", "node", by_tag, web2),
            ("--sec-node-tags", "node", by_tag, web1),
            ("--tags", "instance", by_tag, both),
        ):
            self.cli.client.jobs.clear()
            self.cli("gnt-instance", "shutdown", "--force-multiple", flag, "x")
            self.assertEqual([op["instance_name"] for op in self.cli.client.submitted], names, flag)
            sent = self.cli.client.sent("Query")[-1]
            self.assertEqual((sent[0], sent[2]), (resource, chosen), flag)

    def test_all(self) -> None:
        """--all takes no names; where nobody can be asked it is said what answers beforehand."""
        refused = self.cli("gnt-instance", "startup", "--all")
        self.assertEqual(refused.status, 1)
        self.assertIn("--force-multiple answers beforehand", refused.err)
        self.assertEqual(self.cli("gnt-instance", "startup", "--all", "--force-multiple").status, 0)
        self.assertEqual(len(self.cli.client.jobs), 2)
        self.assertEqual(self.cli("gnt-instance", "startup", "--all", "web1").status, 1)
        self.assertEqual(self.cli("gnt-instance", "startup").status, 1)

    def test_one_fails(self) -> None:
        """The failure of one job does not hide the others, and makes the command fail."""
        self.cli.client.results["OP_INSTANCE_STARTUP"] = OpExecError("broken")
        outcome = self.cli("gnt-instance", "startup", "--force-multiple", "web1", "web2")
        self.assertEqual(outcome.status, 1)
        self.assertEqual(outcome.err.count("has failed: Failure: command execution error:\nbroken"), 2)

    def test_refused(self) -> None:
        """A job that the queue refuses is named; the others run."""
        self.cli.client.answers["SubmitManyJobs"] = lambda jobs: [[False, "queue full"], [True, 1]]
        self.cli.client.jobs[1] = [{"OP_ID": "OP_INSTANCE_STARTUP"}]
        outcome = self.cli("gnt-instance", "startup", "--force-multiple", "web1", "web2")
        self.assertEqual(
            outcome,
            (1, "Submitted jobs 1\nWaiting for job 1 for web2 ...\n", "Failed to submit job for web1: queue full\n"),
        )

    def test_submit(self) -> None:
        """With --submit the ids are printed with the instances' names, one a line."""
        outcome = self.cli("gnt-instance", "startup", "--submit", "--force-multiple", "web1", "web2")
        self.assertEqual(outcome, (0, "1: web1\n2: web2\n", ""))


class ConsoleTests(SynchronousTestCase):
    """gnt-instance console."""

    def setUp(self) -> None:
        self.cli = CommandLine()
        self.console: dict[str, Any] = {
            "instance": "web1", "kind": "ssh", "host": "node1.example.com", "user": "root",
            "command": ["socat", "STDIO,raw", "UNIX-CONNECT:/run/web 1"],
        }  # fmt: skip
        self.cli.client.results["OP_INSTANCE_CONSOLE"] = self.console

    def test_local(self) -> None:
        """On the instance's own node the command is run directly."""
        self.assertEqual(self.cli("gnt-instance", "console", "web1").status, 0)
        self.assertEqual(self.cli.programs, [(["socat", "STDIO,raw", "UNIX-CONNECT:/run/web 1"], None)])

    def test_remote(self) -> None:
        """On another node it is run over SSH, trusting only the keys that the cluster knows of it; words stay whole."""
        self.console["host"] = "node2.example.com"
        self.cli.client.answers["Query"] = lambda *_: answer_of(("ndp/ssh_port", "number", "SSH"), rows=[[2222]])
        self.cli("gnt-instance", "console", "web1")
        ((argv, _document),) = self.cli.programs
        self.assertEqual(argv[-3:], ["root@node2.example.com", "--", "socat STDIO,raw 'UNIX-CONNECT:/run/web 1'"])
        for option in ("HostKeyAlias=node2.example.com", "StrictHostKeyChecking=yes", "Port=2222"):
            self.assertIn(f"-o{option}", argv)

    def test_options(self) -> None:
        """Neither a user nor a host is ever an option of ssh, nor is a word of the command."""
        at_node2 = {"host": "node2.example.com", "user": "root"}
        self.cli.client.answers["Query"] = lambda *_: answer_of(("ndp/ssh_port", "number", "SSH"), rows=[[22]])
        for lie in ({"user": "-oProxyCommand=id"}, {"user": "a@b"}, {"host": "-oProxyCommand=id"}, {"host": "a b"}):
            self.console.update(at_node2, **lie)
            for options in ([], ["--show-cmd"]):
                outcome = self.cli("gnt-instance", "console", *options, "web1")
                self.assertEqual((outcome.status, outcome.out, self.cli.programs), (1, "", []), lie)
        self.console.update(at_node2, command=["-oProxyCommand=id", "$(id)", "; id"])
        self.cli("gnt-instance", "console", "web1")
        ((argv, _document),) = self.cli.programs
        self.assertEqual(argv[-3:], ["root@node2.example.com", "--", "-oProxyCommand=id '$(id)' '; id'"])

    def test_show(self) -> None:
        """--show-cmd prints the command, quoted, and runs nothing."""
        outcome = self.cli("gnt-instance", "console", "--show-cmd", "web1")
        self.assertEqual(outcome.out, "socat STDIO,raw 'UNIX-CONNECT:/run/web 1'\n")
        self.assertEqual(self.cli.programs, [])

    def test_failure(self) -> None:
        """A connection that fails is an error."""
        self.cli.program_status = 1
        outcome = self.cli("gnt-instance", "console", "web1")
        self.assertEqual(outcome.status, 1)
        self.assertIn("console of instance web1 failed", outcome.err)

    def test_directions(self) -> None:
        """Consoles that are no command are described."""
        self.console.update(kind="vnc", port=5900, display=0)
        outcome = self.cli("gnt-instance", "console", "web1")
        self.assertIn("VNC listening on node1.example.com:5900 (display 0)", outcome.out)
        self.console.update(kind="msg", message="nothing to see")
        self.assertEqual(self.cli("gnt-instance", "console", "web1").out, "nothing to see\n")
        self.console.update(kind="telepathy")
        self.assertEqual(self.cli("gnt-instance", "console", "web1").status, 1)


INSTANCE: dict[str, Any] = {
    "name": "web1", "uuid": "u1", "serial_no": 4, "ctime": 0, "mtime": 0, "config_state": "up", "run_state": "up",
    "pnode": "node1", "pnode_group_name": "default", "pnode_group_uuid": "g1", "snodes": ["node2"],
    "snodes_group_names": ["default"], "snodes_group_uuids": ["g1"], "os": "busybox", "os_instance": {}, "os_actual": {},
    "network_port": None, "hypervisor": "kvm", "hv_instance": {"acpi": True}, "hv_actual": {"acpi": True, "vga": ""},
    "be_instance": {}, "be_actual": {"maxmem": 128, "vcpus": 1},
    "nics": [["eth", "n1", None, "aa:00:00:00:00:01", "bridged", "br0", None, None, None]],
    "disk_template": "drbd",
    "disks": [
        {
            "dev_type": "drbd", "size": 1024, "mode": "rw", "name": None, "uuid": "d1",
            "logical_id": ["a", "b", 11000, 0, 1, "hush"],
            "drbd_info": {
                "primary_node": "a", "primary_minor": 0, "secondary_node": "b", "secondary_minor": 1, "port": 11000,
            },
            "pstatus": ["/dev/drbd0", 147, 0, None, None, False, 1],
            "sstatus": ["/dev/drbd0", 147, 0, 50.0, 12, True, 2],
            "children": [
                {
                    "dev_type": "plain", "mode": "rw", "size": 1024, "uuid": "d2",
                    "logical_id": ["xenvg", "lv1"], "volume": "xenvg/lv1",
                },
            ],
        }
    ],
}  # fmt: skip
