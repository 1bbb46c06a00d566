"""A walk through all that a cluster can be asked to do, in an order in which each step finds what it needs."""

from typing import Any

from ganeti_tx.test.inprocess.out_of_band import PROGRAM

#: A command line or, where no command asks for it, the opcode of a job as a program sends it.
Line = str | dict[str, Any]

TEMPLATES = "drbd,plain,file,sharedfile,diskless,ext"
ADD = "gnt-instance add -o noop -H fake --ignore-ipolicy"
#: A restricted command, which the master has.
RESTRICTED = "report"
#: Before this one all disks get lost.
RECREATE = "gnt-instance recreate-disks web1"

#: `{batch}` is a file that describes web3.
LINES: tuple[Line, ...] = (
    {"OP_ID": "OP_CLUSTER_POST_INIT"},
    f"gnt-cluster modify --enabled-disk-templates {TEMPLATES} --ipolicy-disk-templates {TEMPLATES}",
    "gnt-cluster modify -I hail --default-iallocator-params no-capacity-checks",
    "gnt-cluster redist-conf",
    "gnt-cluster verify",
    "gnt-cluster deactivate-master-ip --yes",
    "gnt-cluster activate-master-ip",
    "gnt-cluster renew-crypto -f --new-cluster-certificate",
    {"OP_ID": "OP_CLUSTER_QUERY"},
    {"OP_ID": "OP_CLUSTER_CONFIG_QUERY", "output_fields": ["cluster_name"]},
    {"OP_ID": "OP_QUERY", "what": "os", "fields": ["name"]},
    {"OP_ID": "OP_QUERY_FIELDS", "what": "os"},
    {"OP_ID": "OP_OS_DIAGNOSE", "output_fields": ["name", "valid"]},
    {"OP_ID": "OP_EXT_STORAGE_DIAGNOSE", "output_fields": ["name"]},
    # node groups and nodes
    "gnt-group add rack2",
    "gnt-group modify --alloc-policy=unallocable rack2",
    "gnt-group modify --alloc-policy=preferred rack2",
    "gnt-group rename rack2 rack3",
    "gnt-group assign-nodes rack3 node4 node5",
    "gnt-group add rack9",
    "gnt-group remove rack9",
    "gnt-node add node6",
    "gnt-node modify --master-capable=no node6",
    "gnt-node volumes",
    "gnt-node list-storage",
    "gnt-node modify-storage --allocatable=no node3 lvm-pv /dev/sdb",
    "gnt-node modify-storage --allocatable=yes node3 lvm-pv /dev/sdb",
    "gnt-node repair-storage node3 lvm-vg xenvg",
    f"gnt-node restricted-command {RESTRICTED} node1",
    f"gnt-cluster modify --node-parameters oob_program={PROGRAM}",
    "gnt-node health",
    "gnt-node powercycle --yes node6",
    "gnt-node remove node6",
    # tags
    "gnt-node add-tags node2 quick",
    "gnt-cluster search-tags quick",
    {"OP_ID": "OP_TAGS_GET", "kind": "node", "name": "node2.example.com"},
    "gnt-node remove-tags node2 quick",
    # networks
    "gnt-network add --network=10.77.0.0/28 mesh",
    "gnt-network modify --gateway=10.77.0.1 mesh",
    "gnt-network connect -N mode=routed,link=100 mesh",
    "gnt-network disconnect mesh",
    "gnt-network rename mesh net",
    "gnt-network remove net",
    # instances
    f"{ADD} -t drbd -s 1G -n node2:node3 web1",
    "gnt-instance batch-create {batch}",
    "gnt-instance info web1",
    "gnt-instance console --show-cmd web1",
    "gnt-instance modify -B vcpus=2 web1",
    "gnt-instance reboot web1",
    "gnt-instance grow-disk web1 0 64M",
    "gnt-instance migrate -f web1",
    "gnt-instance failover -f web1",
    "gnt-instance replace-disks -p web1",
    "gnt-node migrate -f node2",
    "gnt-node evacuate -f --secondary-only -n node1 node2",
    "gnt-cluster verify-disks",
    "gnt-cluster repair-disk-sizes",
    "gnt-instance shutdown web1",
    "gnt-instance activate-disks web1",
    "gnt-instance deactivate-disks web1",
    RECREATE,
    "gnt-instance reinstall -f web1",
    "gnt-instance rename web1 web4",
    "gnt-instance startup web4",
    f"{ADD} -t plain -s 1G -n node2 web2",
    "gnt-instance move -f -n node3 web2",
    "gnt-instance change-group --to=rack3 web4",
    "gnt-group evacuate --to=default rack3",
    # exports
    {"OP_ID": "OP_BACKUP_PREPARE", "instance_name": "web2.example.com", "mode": "local"},
    "gnt-backup export -n node1 web2",
    "gnt-backup remove web2",
    # tests
    "gnt-debug delay 0.1",
    "gnt-debug iallocator --dir=in web4",
    {"OP_ID": "OP_TEST_JQUEUE"},
    "gnt-debug test-osparams",
    # the end
    "gnt-cluster rename -f web9",
    "gnt-instance remove -f web2",
    "gnt-instance remove -f web3",
    "gnt-instance remove -f web4",
    *(f"gnt-node remove node{number}" for number in (2, 3, 4, 5)),
    {"OP_ID": "OP_CLUSTER_DESTROY"},
)
