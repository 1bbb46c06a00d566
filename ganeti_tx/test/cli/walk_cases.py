"""What each command is given besides the option that is looked at, where its usual arguments alone do nothing."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from ganeti_tx.errors import ExitCode
from ganeti_tx.test.cli.walk import Around
from ganeti_tx.test.inprocess.node import OS_NAME

NODE, OTHER_NODE = "node3.example.com", "node2.example.com"


class Case(Struct, frozen=True):
    """One command: options and words that always stand, and of options what they take beside them.

    An option that is among those that always stand is looked at by leaving it out.
    """

    options: tuple[str, ...] = ()
    words: tuple[str, ...] | None = None
    around: Around = Around()
    beside: Mapping[str, tuple[str, ...]] = {}
    """By option: further options, without which it has no effect."""
    instead: Mapping[str, tuple[str, ...]] = {}
    """By option: those that stand beside it instead of the usual ones, which it excludes."""
    other_words: Mapping[str, tuple[str, ...]] = {}
    """By option: the words with which it has an effect."""
    values: Mapping[str, str] = {}
    """By option: a value that this command takes."""
    statuses: Mapping[str, int] = {}
    """By option: how a run with it ends, where that is no success."""


#: Arguments by their kind in the table.
WORDS: Mapping[str, str] = {
    "command": "ls",
    "file": "/etc/hostname",
    "filter": "x",
    "group": "default",
    "host": "new1.example.com",
    "instance": "web1.example.com",
    "jobid": "1",
    "name": "name",
    "network": "mesh",
    "node": NODE,
    "os": OS_NAME,
    "suggest": "1h",
    "unknown": "word",
}
#: Values of options by their types.
BY_TYPE: Mapping[str, str] = {
    "bool": "yes",
    "filteraction": "PAUSE",
    "float": "3.5",
    "identkeyval": "0:size=3g",
    "int": "17",
    "json": '[["jobid", [">", "id", 17]]]',
    "keyprivateval": "sample=17",
    "keyval": "sample=17",
    "list": "file,plain",
    "maybefloat": "3.5",
    "multilistidentkeyval": "min:memory-size=128/max:memory-size=3g",
    "string": "sample",
    "unit": "3g",
}
#: Values of options by their names.
BY_OPTION: Mapping[str, str] = {
    "--backend-parameters": "vcpus=3",
    "--disk-parameters": "drbd:resync-rate=17",
    "--disk-state": "plain/xenvg:disk_reserved=17",
    "--hypervisor-parameters": "kvm:acpi=no",
    "--hypervisor-state": "kvm:cpu_total=17",
    "--net": "0:mac=aa:00:00:17:17:17",
    "--nic-parameters": "link=br17",
    "--node-parameters": "ssh_port=17",
    "--output": "name",
    "--priority": "high",
    "--separator": "%",
    "--specs-cpu-count": "min=1,max=17,std=3",
    "--specs-disk-count": "min=1,max=17,std=3",
    "--specs-disk-size": "min=4,max=1700,std=8",
    "--specs-mem-size": "min=4,max=1700,std=8",
    "--specs-nic-count": "min=1,max=17,std=3",
    "--ipolicy-std-specs": "memory-size=3g",
    "--units": "m",
}
#: What programs and opcodes give that say how nodes are.
POWERED = [[[0, node], [0, {"powered": True}]] for node in (NODE, OTHER_NODE)]
CONSOLE = {"kind": "ssh", "host": NODE, "command": ["true"], "instance": "web1.example.com"}
#: Which opcode is in the file of jobs, and which instances in that of instances, that the walk lays down.
JOBS_FILE, INSTANCES_FILE = "walk-jobs.json", "walk-instances.json"
FORCE = ("--force",)
TAGGED = Case(values={"--from": "-"}, around=Around(stdin="sample\n"))
FIELDS = Case(words=())
NO_JOBS: dict[str, Any] = {"jobs": []}
#: Several instances at once, by what else the words may name; more is asked when there are several.
SELECTING: Mapping[str, tuple[str, ...]] = {
    "--node": (OTHER_NODE,),
    "--primary": (OTHER_NODE,),
    "--secondary": (NODE,),
    "--all": (),
    "--node-tags": ("rack1",),
    "--pri-node-tags": ("rack1",),
    "--sec-node-tags": ("rack2",),
    "--tags": ("web",),
    "--force-multiple": ("web1.example.com", "web2.example.com"),
    "--instance": ("web1.example.com", "web2.example.com"),
}
SEVERAL: Mapping[str, tuple[str, ...]] = {
    **{flag: ("--force-multiple",) for flag in SELECTING if flag != "--force-multiple"},
    "--instance": ("--all", "--force-multiple"),
}
STATUSES = dict.fromkeys(("--pending", "--queued", "--waiting"), ())


def listing(field: str, **more: Any) -> Case:
    """A list, with a field that nobody knows where its cells are to be explained."""
    values = {"--output": field, **more.pop("values", {})}
    beside = {"--verbose": ("--output=nosuch",)}
    return Case(
        values=values,
        beside=beside,
        other_words={"--filter": (field,), "--verbose": ()},
        statuses={"--verbose": ExitCode.UNKNOWN_FIELD} | more.pop("statuses", {}),
        **more,
    )


#: Options that change nothing, and why they need not.
IDLE: Mapping[tuple[str, str], str] = {
    ("gnt-backup export", "--force"): "nothing is asked",
    ("gnt-backup list", "--units"): "no field is a size",
    ("gnt-cluster renew-crypto", "--no-ssh-key-check"): "nothing is done through ssh",
    **{
        (f"gnt-instance {verb}", "--print-jobid"): "the number of each job is told anyway, as by Ganeti's command"
        for verb in ("reboot", "reinstall", "shutdown", "startup")
    },
    ("gnt-node add", "--verbose"): "the setting up tells all it does anyway",
}

CASES: Mapping[str, Case] = {
    **{
        f"gnt-{noun} {verb}": TAGGED
        for noun in ("cluster", "group", "instance", "network", "node")
        for verb in ("add-tags", "remove-tags")
    },
    **{
        f"gnt-{noun} list-fields": FIELDS
        for noun in ("backup", "filter", "group", "instance", "job", "network", "node")
    },
    **{f"gnt-{noun} list": listing("name") for noun in ("group", "instance", "network", "node")},
    "gnt-backup list": listing("export", values={"--node": NODE}),
    "gnt-job list": listing("id"),
    "gnt-filter list": listing("uuid", words=()),
    "gnt-backup import": Case(("--node=node1",)),
    "gnt-backup export": Case((f"--node={NODE}",)),
    "gnt-cluster command": Case(
        values={"--node": NODE, "--node-group": "default"}, around=Around(captured={"ls": (0, "file")})
    ),
    "gnt-cluster copyfile": Case(
        values={"--node": NODE, "--node-group": "default"},
        around=Around(captured={"/etc/hostname": (0, "regular file|644|17")}),
    ),
    "gnt-cluster deactivate-master-ip": Case(("--yes",)),
    "gnt-cluster destroy": Case(("--yes-do-it",)),
    "gnt-cluster epo": Case(
        FORCE,
        (OTHER_NODE,),
        Around(results={"OP_OOB_COMMAND": POWERED}),
        other_words={"--groups": ("away",), "--all": (), "--power-delay": (NODE, OTHER_NODE)},
        beside={"--power-delay": ("--on",)},
    ),
    "gnt-cluster init": Case(values={"--master-netmask": "17", "--uid-pool": "17", "--primary-ip-version": "6"}),
    "gnt-cluster master-failover": Case(
        beside={"--no-voting": ("--yes-do-it",), "--yes-do-it": ("--no-voting",)},
        values={"--ignore-offline-nodes": "no"},
    ),
    "gnt-cluster modify": Case(
        ("--candidate-pool-size=5",),
        values={
            "--enabled-hypervisors": "fake",
            "--master-netmask": "17",
            "--uid-pool": "17",
            "--add-uids": "17",
            "--remove-uids": "17",
            "--enabled-disk-templates": "plain",
            "--enabled-data-collectors": "cpu-avg-load=no",
            "--data-collector-interval": "cpu-avg-load=17",
        },
    ),
    "gnt-cluster queue": Case(around=Around(answers={"SetDrainFlag": True})),
    "gnt-cluster rename": Case(FORCE),
    "gnt-cluster renew-crypto": Case(
        ("--force", "--new-ssh-keys"),
        beside={
            "--spice-certificate": ("--spice-ca-certificate=/ca.pem",),
            "--spice-ca-certificate": ("--spice-certificate=/own.pem",),
        },
    ),
    "gnt-cluster search-tags": Case(around=Around(results={"OP_TAGS_SEARCH": [["/cluster", "word"]]})),
    "gnt-cluster upgrade": Case(("--to=0.2.0",), instead={"--resume": ()}),
    "gnt-cluster verify-disks": Case(around=Around(results={"OP_CLUSTER_VERIFY_DISKS": NO_JOBS})),
    "gnt-group add": Case(values={"--alloc-policy": "last_resort"}),
    "gnt-group modify": Case(values={"--alloc-policy": "last_resort"}),
    "gnt-network add": Case(
        ("--network=10.99.0.0/24",),
        values={
            "--network": "10.17.0.0/24",
            "--gateway": "10.99.0.17",
            "--add-reserved-ips": "10.99.0.17",
            "--network6": "2001:db8:17::/64",
            "--gateway6": "2001:db8::17",
        },
    ),
    "gnt-network modify": Case(
        ("--mac-prefix=aa:bb:cc",),
        values={
            "--gateway": "10.99.0.17",
            "--add-reserved-ips": "10.99.0.17",
            "--remove-reserved-ips": "10.99.0.17",
            "--network6": "2001:db8:17::/64",
            "--gateway6": "2001:db8::17",
        },
    ),
    "gnt-node evacuate": Case(
        FORCE,
        (OTHER_NODE,),
        Around(results={"OP_NODE_EVACUATE": NO_JOBS}),
        other_words=dict.fromkeys(("--new-secondary", "--secondary-only"), (NODE,)),
    ),
    "gnt-node failover": Case(FORCE, (OTHER_NODE,)),
    "gnt-node health": Case(around=Around(results={"OP_OOB_COMMAND": [[[0, NODE], [0, [["PSU", "OK"]]]]]})),
    "gnt-node list-storage": Case(values={"--storage-type": "file"}),
    "gnt-node migrate": Case(FORCE, (OTHER_NODE,), Around(results={"OP_NODE_MIGRATE": NO_JOBS})),
    "gnt-node modify": Case(("--offline=no",)),
    "gnt-node modify-storage": Case(("--allocatable=no",)),
    "gnt-node power": Case(FORCE, ("off", NODE), Around(results={"OP_OOB_COMMAND": POWERED})),
    "gnt-node powercycle": Case(("--yes",)),
    "gnt-node restricted-command": Case(
        around=Around(results={"OP_RESTRICTED_COMMAND": [[True, "fine"]]}),
        other_words={"--node-group": ("word",)},
        values={"--node-group": "away"},
    ),
    "gnt-instance activate-disks": Case(
        around=Around(results={"OP_INSTANCE_ACTIVATE_DISKS": [[NODE, "disk/0", "/dev/x"]]})
    ),
    "gnt-instance add": Case(
        ("--os-size=1g", "--disk-template=file", f"--os-type={OS_NAME}", f"--node={NODE}"),
        instead={
            "--disk": ("--disk-template=file", f"--os-type={OS_NAME}", f"--node={NODE}"),
            "--iallocator": ("--os-size=1g", "--disk-template=file", f"--os-type={OS_NAME}"),
        },
    ),
    "gnt-instance batch-create": Case(
        words=(INSTANCES_FILE,), around=Around(results={"OP_INSTANCE_MULTI_ALLOC": {"jobs": []}})
    ),
    "gnt-instance change-group": Case(around=Around(results={"OP_INSTANCE_CHANGE_GROUP": NO_JOBS})),
    "gnt-instance console": Case(around=Around(results={"OP_INSTANCE_CONSOLE": CONSOLE})),
    "gnt-instance failover": Case(FORCE),
    "gnt-instance grow-disk": Case(words=("web1.example.com", "0", "1g")),
    "gnt-instance info": Case(other_words={"--all": ()}),
    "gnt-instance migrate": Case(FORCE),
    "gnt-instance modify": Case(
        ("--backend-parameters=vcpus=2",),
        beside={
            "--node": ("--disk-template=drbd",),
            "--iallocator": ("--disk-template=drbd",),
            "--no-wait-for-sync": ("--disk-template=drbd", f"--node={NODE}"),
            "--file-driver": ("--disk-template=file",),
            "--file-storage-dir": ("--disk-template=file",),
            "--ext-params": ("--disk-template=ext",),
        },
    ),
    "gnt-instance move": Case(("--force", f"--node={NODE}")),
    "gnt-instance reboot": Case(other_words=SELECTING, beside=SEVERAL),
    "gnt-instance reinstall": Case(FORCE, other_words=SELECTING, beside=SEVERAL, around=Around(stdin="0\n")),
    "gnt-instance remove": Case(FORCE),
    "gnt-instance rename": Case(
        beside={"--force": ("--no-name-check",), "--no-name-check": FORCE},
    ),
    "gnt-instance replace-disks": Case(
        ("--on-secondary",),
        instead=dict.fromkeys(("--auto", "--iallocator", "--new-secondary", "--on-primary"), ()),
        values={"--disks": "7"},
    ),
    "gnt-instance shutdown": Case(other_words=SELECTING, beside=SEVERAL),
    "gnt-instance startup": Case(other_words=SELECTING, beside=SEVERAL),
    "gnt-job archive": Case(around=Around(answers={"ArchiveJob": True})),
    "gnt-job autoarchive": Case(around=Around(answers={"AutoArchiveJobs": [1, 0]})),
    "gnt-job cancel": Case(
        around=Around(answers={"CancelJob": [True, "canceled"]}),
        other_words=STATUSES | {"--force": ()},
        beside={"--kill": ("--yes-do-it",), "--yes-do-it": ("--kill",), "--force": ("--pending",)}
        | dict.fromkeys(STATUSES, FORCE),
        statuses={"--waiting": 1},
    ),
    "gnt-job change-priority": Case(
        ("--priority=high",),
        around=Around(answers={"ChangeJobPriority": [True, "changed"]}),
        other_words=STATUSES | {"--force": ()},
        beside={"--force": ("--pending",)} | dict.fromkeys(STATUSES, FORCE),
        statuses={"--waiting": 1},
    ),
    "gnt-debug delay": Case(words=("0",)),
    "gnt-debug iallocator": Case(values={"--dir": "out", "--mode": "allocate", "--disks": "3g"}),
    "gnt-debug locks": listing("mode", statuses={"--interval": 1}),
    "gnt-debug test-jobqueue": Case(statuses={"": 1, "--priority": 1}),
    "gnt-debug metad": Case(words=("echo", "word")),
    "gnt-debug submit-job": Case(words=(JOBS_FILE,)),
    "gnt-debug wconfd": Case(words=("echo", "word")),
    "gnt-filter add": Case(around=Around(answers={"ReplaceFilter": "x"}), values={"--priority": "17"}),
    "gnt-filter info": Case(words=()),
    "gnt-filter replace": Case(around=Around(answers={"ReplaceFilter": "x"}), values={"--priority": "17"}),
    "gnt-os modify": Case(("--hidden=no",)),
}
