"""Changes of instances of which each call goes wrong in turn, and whose jobs are killed and cancelled at each."""

import msgspec

from ganeti_tx.test.inprocess.cluster import InProcessCluster
from ganeti_tx.test.inprocess.each_call import EachCallCase, Operation, walks

FILE = (
    "gnt-instance add -t file --disk 0:size=1G --disk 1:size=2G -o noop -H fake -B maxmem=256,minmem=128 -n node2 web1"
)
MIRRORED = "gnt-instance add -t drbd -s 64M -o noop -H fake --ignore-ipolicy -n node2:node3 web1"
WITH_ADDRESSES = (
    "gnt-network add --network=10.9.0.0/29 lan",
    "gnt-network connect -N mode=routed,link=1 lan",
    "gnt-instance add -t diskless -o noop -H fake --net 0:network=lan,ip=10.9.0.5 --net 1:network=lan,ip=pool -n node2 web1",
)
DOWN = "gnt-instance shutdown web1"
NODE = "node2.example.com"


def sizes(cluster: InProcessCluster) -> list[int]:
    """The sizes of the disks that the instance has."""
    [instance] = cluster.config.instances.values()
    return [cluster.config.disks[uuid].size for uuid in instance.disks]


def addresses(cluster: InProcessCluster) -> list[str | None]:
    """The addresses of the instance's NICs."""
    [instance] = cluster.config.instances.values()
    return [nic.ip for nic in instance.nics]


OPERATIONS = {
    "parameters": Operation(
        "gnt-instance modify -B vcpus=2 -O flavour=mild --net add --net 0:ip=192.0.2.200 web1", (FILE,)
    ),
    "addresses": Operation(
        "gnt-instance modify --net add:network=lan,ip=pool --net 0:ip=10.9.0.6 --net 1:remove web1",
        WITH_ADDRESSES,
        done=lambda cluster: addresses(cluster)[0] == "10.9.0.6",
    ),
    "disks": Operation(
        "gnt-instance modify --disk add:size=3G --disk 0:remove web1",
        (FILE, DOWN),
        done=lambda cluster: sizes(cluster)[-1] == 3072,
    ),
    "detach": Operation(
        "gnt-instance modify --disk 1:detach web1", (FILE, DOWN), done=lambda cluster: sizes(cluster) == [1024]
    ),
    "live": Operation(
        "gnt-instance modify --hotplug --disk add:size=3G --disk 0:remove --net add --net 0:remove web1",
        (FILE,),
        done=lambda cluster: sizes(cluster)[-1] == 3072,
    ),
    "balloon": Operation("gnt-instance modify -m 200 -B vcpus=2 web1", (FILE,)),
    "mirrored": Operation(
        "gnt-instance modify --ignore-ipolicy --disk add:size=128M --disk 0:remove web1",
        (MIRRORED, DOWN),
        mirrored=True,
        done=lambda cluster: sizes(cluster)[-1] == 128,
    ),
}


@walks(OPERATIONS)
class ModifyEachCallTests(EachCallCase):
    """All agree, and a machine that runs has the devices of its configuration, or those that it had."""

    def assert_agreed(self, cluster: InProcessCluster, where: str) -> None:
        """The devices, too."""
        super().assert_agreed(cluster, where)
        [instance] = cluster.config.instances.values()
        path = cluster.paths.run_dir / "fake-hypervisor" / instance.name
        disk = cluster.node(2).disk
        if disk.exists(path):
            machine = msgspec.json.decode(disk.read(path, 1 << 20))
            self.assertEqual(set(machine["disks"]), set(instance.disks), where)
            if "--hotplug" in where:
                self.assertEqual(set(machine["nics"]), {nic.uuid for nic in instance.nics}, where)
