"""What happened to the recorded cluster before a line, by the line's number: commands of other programs, and circumstances.

The lines of gnt-storage follow those of gnt-instance.

The steps of `ASIDE` are not the recorded cluster's: they bring this one into the state in which a line that differs had left that
one. What the line does instead, `differences` declares.
"""

from collections.abc import Mapping, Sequence

from ganeti_tx.test.inprocess.recorded_instances.circumstances import (
    Circumstance,
    copied,
    dies,
    file_lost,
    furnish,
    hook,
    hypervisor_named,
    lost,
    no_hook,
    runs,
    started,
    stopped,
    without_providers,
)

Step = str | Circumstance
TEMPLATES = "diskless,file,sharedfile"
BOUNDS = (
    "min:cpu-count=1,disk-count=0,disk-size=1M,memory-size=1M,nic-count=0,spindle-use=1/"
    "max:cpu-count=8,disk-count=8,disk-size=100G,memory-size=16G,nic-count=4,spindle-use=8"
)
SMALL = (
    "min:cpu-count=1,disk-count=0,disk-size=1M,memory-size=1M,nic-count=0,spindle-use=1/"
    "max:cpu-count=1,disk-count=1,disk-size=1M,memory-size=4M,nic-count=1,spindle-use=1"
)
ADD = "gnt-instance add --no-ip-check --no-start"
LIKE_INST8 = f"{ADD} -o envdump+default -O dhcp=yes"
ALL_GIVEN = "-B always_failover=False,auto_balance=True,spindle_use=1"
INST8 = f"{ADD} -t diskless -o noop -n node2 inst8"
#: Up by the configuration, and nothing runs.
DOWN_BY_ITSELF = ("gnt-instance startup inst3", "gnt-instance shutdown --no-remember inst3")

MEANWHILE: Mapping[int, Sequence[Step]] = {
    4: [
        furnish,
        f"gnt-cluster modify --enabled-disk-templates={TEMPLATES} --ipolicy-disk-templates={TEMPLATES} -N link=br0 -I hail",
        "gnt-network add --network=10.5.0.0/28 --gateway=10.5.0.1 --add-reserved-ips=10.5.0.5,10.5.0.6 net1",
        "gnt-network add --network=10.6.0.0/24 net2",
        "gnt-network connect -N mode=bridged,link=xen-br0 net1 default",
        "gnt-network connect -N mode=bridged,link=br0 net2 default",
    ],
    72: ["gnt-group add group2"],
    99: [
        f"gnt-cluster modify --ipolicy-bounds-specs {BOUNDS}",
        "gnt-network disconnect net1 default",
        "gnt-network connect -N mode=bridged,link=br0 net1 default",
        "gnt-group assign-nodes group2 node3",
    ],
    417: [copied(1, 2), lost(1)],
    466: [lost(1)],
    513: [lost(2)],
    563: ["gnt-instance shutdown --no-remember inst2", "gnt-instance shutdown --no-remember inst3"],
    565: ["gnt-cluster modify --default-iallocator-params no-capacity-checks="],
    592: ["gnt-instance remove -f inst2"],
    593: ["gnt-cluster modify --default-iallocator-params no-capacity-checks=default -I lenient"],
    610: ["gnt-instance migrate -f -n node3 inst4"],
    612: [hypervisor_named],
    618: [f"{ADD} -t file -o envdump+default --disk 0:size=16M -n node2 -B memory=64M,vcpus=2 inst2"],
    623: [f"{LIKE_INST8} -t diskless -n node2 {ALL_GIVEN},memory=64,vcpus=2 inst8"],
    625: [f"{LIKE_INST8} -t file --disk 0:size=16M -n node2 {ALL_GIVEN},memory=64,vcpus=2 inst8"],
    627: [INST8],
    628: [f"{LIKE_INST8} -t diskless -n node3 -B memory=64,vcpus=2 inst8"],
    **{number: [INST8] for number in (630, 631, 632)},
    634: [
        f"{ADD} -t diskless -o noop -n node1 -B always_failover=False,auto_balance=True,spindle_use=2"
        ",maxmem=512,minmem=200,vcpus=1 --net 0:mac=aa:00:00:11:22:33"
        " --net 1:network=net1,ip=10.5.0.3,name=extra --net 2:network=net1,ip=10.5.0.4,name=extra2 inst3"
    ],
    635: [f"gnt-instance failover -f -n node1 {name}" for name in ("inst5", "inst7", "web8")],
    636: [f"gnt-group modify --ipolicy-bounds-specs {SMALL} default"],
    637: ["gnt-group modify --ipolicy-bounds-specs default default"],
    644: [
        "gnt-network add --no-conflicts-check --network=198.18.0.0/24 net3",
        "gnt-network connect --no-conflicts-check -N mode=bridged,link=br0 net3 default",
    ],
    645: ["gnt-group modify --ipolicy-disk-templates=file default"],
    647: [f"gnt-group modify --ipolicy-disk-templates={TEMPLATES} default", "gnt-os modify --blacklisted=yes noop"],
    649: ["gnt-os modify --blacklisted=no noop"],
    651: ["gnt-cluster queue drain"],
    652: ["gnt-cluster queue undrain", "gnt-cluster modify --default-iallocator="],
    653: ["gnt-cluster modify --default-iallocator=hail"],
    655: [dies("inst1", 1), runs("inst7", 2)],
    657: [dies("inst7", 2)],
    658: [hook("pre")],
    660: [no_hook("pre"), hook("post")],
    661: [no_hook("post")],
    662: [stopped],
    674: ["gnt-node modify -O yes node2"],
    695: [started, "gnt-node modify -f --auto-promote -O no node2"],
    698: [dies("inst1", 1), runs("inst7", 2), runs("inst5", 1, 260), file_lost("inst8", 2)],
    699: ["gnt-instance startup inst1"],
    705: [dies("inst5", 1), dies("inst7", 2)],
    715: [without_providers],
}

ASIDE: Mapping[int, Sequence[Step]] = {
    45: ["gnt-instance add -t diskless -o noop -n node1 inst8"],
    119: [f"{ADD} -t file -o failing+default --disk 0:size=8M --no-install -n node1 inst8"],
    137: ["gnt-instance remove -f inst8"],
    185: ["gnt-instance modify -f -B memory=60G --ignore-ipolicy inst1"],
    194: ["gnt-instance modify -O root_size=2G inst4"],
    234: ["gnt-instance modify --hotplug --net 1:remove inst1"],
    273: [copied(1, 2), *DOWN_BY_ITSELF, lost(2)],
    419: [copied(2, 1), *DOWN_BY_ITSELF, lost(1), lost(2)],
    512: ["gnt-instance reboot inst7"],
    523: ["gnt-network connect -N mode=bridged,link=br0 net1 group2"],
    **{number: ["gnt-instance remove -f b3", "gnt-instance remove -f b4"] for number in (541, 587, 590)},
    **{number: ["gnt-instance remove -f b7"] for number in (547, 589)},
    597: ["gnt-instance failover -f -n node2 inst4"],
    633: ["gnt-network disconnect net1 group2"],
    676: ["gnt-instance shutdown --ignore-offline inst2"],
}
