"""A devcluster with something of everything in it."""

from ganeti_tx.test.fakes.provider import write_provider
from ganeti_tx.test.real.devcluster import DevClusterUnderTest

OPTIONS = ("--enabled-hypervisors=fake", "--enabled-disk-templates=diskless,file,sharedfile,ext")
LIKE_ALL = "-o busybox+default --no-install --no-name-check --no-ip-check --ignore-ipolicy"
#: Later jobs like these wait until the filter is deleted.
PAUSED = '[["jobid",[">","id","watermark"]],["opcode",["=","OP_ID","OP_TEST_DELAY"]]]'
SETTINGS = f"""
gnt-group add --node-parameters spindle_count=2 -D drbd:metavg=meta --alloc-policy=last_resort rack2
gnt-group modify --ipolicy-vcpu-ratio=2.5 --ipolicy-disk-templates=file,diskless rack2
gnt-group add-tags rack2 east
gnt-group add empty
gnt-cluster add-tags blue green:1
gnt-cluster modify -B maxmem=192 --hypervisor-parameters=fake:migration_mode=live --candidate-pool-size=5
gnt-cluster modify --node-parameters spindle_count=3 --reserved-lvs=root,swap
gnt-network add --network=198.51.100.0/28 --gateway=198.51.100.1 --add-reserved-ips=198.51.100.9 --mac-prefix=aa:bb:01 \
 --tags=t1,t2 net1
gnt-network add --network=203.0.113.0/29 --network6=2001:db8::/64 --gateway6=2001:db8::1 net2
gnt-network connect -N mode=bridged,link=br0 net1 default
gnt-network connect -N mode=routed,link=rt net2
gnt-node add-tags node2 fast
gnt-node modify --node-parameters spindle_count=4 node2
gnt-instance add -t file --disk 0:size=64M,name=data --disk 1:size=1M,access=ro -n node1 -O dhcp=yes \
 -B vcpus=2,maxmem=128,minmem=64 --net 0:network=net1,ip=198.51.100.5,name=front --net 1:ip=192.0.2.7 --tags=a,b \
 {LIKE_ALL} run1.dev.example
gnt-instance add -t diskless --no-start --no-nics -n node2 {LIKE_ALL} down1.dev.example
gnt-instance add -t sharedfile -s 8M -n node1 {LIKE_ALL} shared1.dev.example
gnt-instance add -t ext --disk 0:size=8M,provider=shelf,colour=red -n node1 --no-start {LIKE_ALL} ext1.dev.example
gnt-instance add -t diskless -n node2 {LIKE_ALL} died1.dev.example
gnt-instance add -t diskless -n node2 --no-start {LIKE_ALL} away1.dev.example
gnt-instance add -t file -s 16M --forthcoming -n node1 {LIKE_ALL} soon1.dev.example
gnt-instance add -t diskless -n node3 --no-start --net 0:network=net2,ip=203.0.113.4 {LIKE_ALL} gone1.dev.example
gnt-instance modify --offline away1.dev.example
gnt-backup export -n node1 run1.dev.example
gnt-instance startup --force-multiple run1.dev.example died1.dev.example
gnt-os modify --hidden=yes noop
gnt-cluster watcher pause 4h
gnt-node modify --drained=yes node2
gnt-group assign-nodes --force rack2 node3
gnt-node modify --offline=yes node3
gnt-job archive 2
"""
#: What ends with an error.
FAILS = "gnt-group remove default"
#: The first two run and wait for each other, or run both; of those behind the filter one is cancelled.
DELAY = "gnt-debug delay --submit 3600"
JOBS = (
    DELAY,
    DELAY,
    f"gnt-filter add --action=PAUSE --predicates={PAUSED} --reason=calm --priority=3",
    "gnt-filter add --action=ACCEPT --priority=9",
    DELAY,
    DELAY,
)


def furnish(cluster: DevClusterUnderTest) -> None:
    """Bring it into this state. @raise AssertionError: a command that shall not fail has."""
    for number, node in enumerate(cluster.layout.nodes):
        providers, volumes = node.root / "srv/ganeti/extstorage", cluster.directory / "volumes"
        write_provider(providers / "shelf", volumes, parameters="colour of its lamp\nsize_class S or L\n")
        write_provider(providers / "partly", volumes, without=("grow",) if number else ())
        if number:
            write_provider(providers / "nowhere", volumes, without=("attach",))
    for line in SETTINGS.replace("\\\n", "").split("\n")[1:-1]:
        cluster.ok(line)
    (cluster.layout.nodes[1].root / "var/run/ganeti/fake-hypervisor/died1.dev.example").unlink()
    if cluster.run(FAILS.split())[0] == 0:
        raise AssertionError(f"{FAILS!r} has not failed")
    for line in JOBS:
        cluster.ok(line)
    last = cluster.ok("gnt-job list --no-headers -o id").split()[-1]
    cluster.ok(f"gnt-job cancel {last}")
