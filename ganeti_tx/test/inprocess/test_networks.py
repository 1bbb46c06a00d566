"""Networks of a whole cluster, as its command lines show them."""

from ganeti_tx.test.inprocess.case import ClusterCase
from ganeti_tx.test.inprocess.disk import put

ADD = (
    "gnt-network add --network=10.5.0.0/28 --gateway=10.5.0.1 --mac-prefix=aa:00:55 --network6=2001:db8:5::/64"
    " --gateway6=2001:db8:5::1 --add-reserved-ips=10.5.0.5,10.5.0.6 --tags=nettag1,nettag2 net1"
)
INFO = """\
Network name: net1
UUID: {uuid}
Serial number: 1
  Subnet: 10.5.0.0/28
  Gateway: 10.5.0.1
  IPv6 Subnet: 2001:db8:5::/64
  IPv6 Gateway: 2001:db8:5::1
  Mac Prefix: aa:00:55
  Size: 16
  Free: 11 (68.75%)
  Usage map:
        0 XX...XX........X                                                 63
         (X) used    (.) free
  externally reserved IPs:
    10.5.0.0, 10.5.0.1, 10.5.0.5, 10.5.0.6, 10.5.0.15
  connected to node groups:
    default (mode:bridged link:br0 vlan:)
  not used by any instances
"""
LIST = """\
Network Subnet      Gateway  MacPrefix GroupList                Tags
net1    10.5.0.0/28 10.5.0.1 aa:00:55  default (bridged, br0, ) nettag1,nettag2
net2    10.6.0.0/24 -        -                                  
"""  # noqa: W291


class NetworkTests(ClusterCase):
    """gnt-network."""

    def test_life(self) -> None:
        """Made, connected, shown, changed, tagged, disconnected, removed."""
        self.ok(ADD)
        self.ok("gnt-network add --network=10.6.0.0/24 net2")
        self.ok("gnt-network connect -N mode=bridged,link=br0 net1 default")
        uuid = self.scene().field("network", "net1", "uuid")
        self.assertEqual(self.ok("gnt-network info net1"), INFO.format(uuid=uuid))
        self.assertEqual(self.ok("gnt-network list"), LIST)
        self.assertIn("already mapped to group 'default'", self.ok("gnt-network connect net1"))
        self.assertIn("\n      192 ", self.ok("gnt-network info"))
        self.ok("gnt-network modify --gateway=10.5.0.14 --remove-reserved-ips=10.5.0.5 net1")
        self.assertIn("    10.5.0.0, 10.5.0.6, 10.5.0.14, 10.5.0.15\n", self.ok("gnt-network info net1"))
        self.ok("gnt-network add-tags net1 nt")
        self.assertEqual(self.ok("gnt-network list-tags net1"), "nettag1\nnettag2\nnt\n")
        self.ok("gnt-network remove-tags net1 nt")
        self.fails("gnt-network remove net1", "wrong_state.*\n.*Network still connected")
        self.ok("gnt-network rename net1 net3")
        self.fails("gnt-network rename net3 net2", "already_exists.*\n.*net2")
        self.ok("gnt-network rename net3 net1")
        self.ok("gnt-network disconnect net1")
        self.assertIn("not mapped to group 'default'", self.ok("gnt-network disconnect net1 default"))
        self.assertIn("1. remove the network from the configuration", self.ok("gnt-network remove --dry-run net1"))
        self.ok("gnt-network remove net1")
        self.assertEqual(self.ok("gnt-network list --no-headers -o name"), "net2\n")

    def test_instances(self) -> None:
        """Instances take addresses, keep them, and give them back; what they use stays."""
        add = "gnt-instance add -t file -s 1G -o noop --no-name-check --no-ip-check -n node2"
        self.ok(ADD)
        self.ok("gnt-network connect -N mode=routed,link=100 net1")
        made = self.ok(f"{add} --net 0:network=net1,ip=pool --net 1:ip=10.5.0.9,network=net1,name=second inst7")
        self.assertIn("- INFO: NIC/0 inherits netparams ['100', 'routed', '']\n", made)
        self.assertIn("- INFO: Chose IP 10.5.0.2 from network net1\n", made)
        shown = self.ok("gnt-network info net1")
        self.assertIn("        0 XXX..XX..X.....X  ", shown)
        self.assertIn("  Free: 9 (56.25%)\n", shown)
        self.assertIn("  used by 1 instances:\n    inst7: 0:10.5.0.2, 1:10.5.0.9\n", shown)
        self.assertIn("Serial number: 1\n", shown)
        fields = "nic.ips,nic.networks.names,nic.links,nic.modes"
        listed = self.ok(f"gnt-instance list --no-headers --separator=| -o {fields} inst7")
        self.assertEqual(listed, "10.5.0.2,10.5.0.9|['net1', 'net1']|100,100|routed,routed\n")
        self.assertIn("network: net1\n", self.ok("gnt-instance info inst7"))
        taken = "resource_not_unique.*\n.*IP address 10.5.0.9 already in use"
        self.fails(f"{add} --net 0:network=net1,ip=10.5.0.9 web9", taken)
        self.fails(f"{add} --net 0:network=nosuch,ip=pool web9", "unknown_entity.*\n.*nosuch")
        self.fails(f"{add} --net 0:ip=pool web9", "wrong_input.*\n.*network must be passed")
        self.fails("gnt-network disconnect net1", "wrong_state.*\n.*Conflicting IP addresses")
        self.ok("gnt-instance shutdown inst7")
        self.ok("gnt-instance startup inst7")
        self.ok("gnt-instance remove -f inst7")
        self.assertIn("        0 XX...XX........X  ", self.ok("gnt-network info net1"))
        self.ok("gnt-network disconnect net1")
        self.assertEqual(self.ok("gnt-cluster verify").count("ERROR"), 0)

    def test_another_group(self) -> None:
        """A node that comes to another group with an instance: its NIC keeps its address, and is linked as that group is."""
        self.ok("gnt-group add rack2")
        self.ok("gnt-group assign-nodes rack2 node3")
        self.ok("gnt-network add --network=10.6.0.0/29 net2")
        self.ok("gnt-network connect -N mode=routed,link=1 net2 rack2")
        self.ok(
            "gnt-instance add -t diskless -o noop --net 0:network=net2,ip=pool --no-name-check --no-ip-check -n node3 web1"
        )
        self.fails("gnt-group assign-nodes default node3", "wrong_state.*\n.*default is not connected to.*web1")
        self.ok("gnt-group assign-nodes --force default node3")
        self.ok("gnt-network connect --no-conflicts-check -N mode=routed,link=2 net2 default")
        listed = self.ok("gnt-instance list --no-headers --separator=: -o nic.links,nic.link/0,nic.ips web1")
        self.assertEqual(listed, "2:2:10.6.0.1\n")
        self.ok("gnt-instance remove -f web1")
        self.assertEqual(self.ok("gnt-network list --no-headers -o free_count net2").strip(), "6")

    def test_communication(self) -> None:
        """The network of instance communication is made when it is named, and all groups have it; one that is there is used."""
        self.ok("gnt-group add rack2")
        said = self.ok("gnt-cluster modify --instance-communication-network=mesh")
        self.assertRegex(said, r"(?m)^Submitted jobs \d+, \d+\n")
        listed = self.ok("gnt-network list --no-headers --separator=| -o network,network6,mac_prefix,group_list mesh")
        groups = "default (routed, communication_rt, ), rack2 (routed, communication_rt, )"
        self.assertEqual(listed, f"169.254.0.0/16|fe80::/10|52:54:00|{groups}\n")
        self.ok("gnt-instance add -t diskless -o noop -c yes --no-start --no-name-check --no-ip-check -n node2 web1")
        self.assertIn("169.254.0.1", self.ok("gnt-instance list --no-headers -o nic.ips web1"))
        taken = "169.254.0.0, 169.254.169.254, 169.254.255.255"  # the nodes' own is no instance's
        self.assertIn(f"externally reserved IPs:\n    {taken}\n", self.ok("gnt-network info mesh"))
        self.assertEqual(self.ok("gnt-cluster modify --instance-communication-network=mesh"), "")
        _, out, err = self.scene().run(["gnt-cluster", "modify", "--instance-communication-network=other"])
        self.assertIn("Conflicting IP addresses found", err)
        self.assertIn("are in use: web1: nic1/169.254.0.1", out)
        self.assertEqual(self.ok("gnt-network list --no-headers -o name"), "mesh\n")
        self.ok("gnt-network add --network=10.6.0.0/24 net2")
        said = self.ok("gnt-cluster modify --instance-communication-network=net2")
        self.assertIn("WARNING: network net2 has the ranges 10.6.0.0/24 and none", said)
        self.ok("gnt-cluster modify --instance-communication-network=")
        self.assertEqual(self.ok("gnt-network list --no-headers -o name,inst_cnt"), "mesh 1\nnet2 0\n")

    def test_fields(self) -> None:
        """list and list-fields; what is not known has its own exit status."""
        self.ok(ADD)
        self.assertIn("name", self.ok("gnt-network list-fields name map"))
        shown = self.ok("gnt-network list --no-headers -o free_count,map net1")
        self.assertEqual(shown.split(), ["11", "XX...XX........X"])
        self.fails("gnt-network list -o nosuch", "Queried for unknown fields nosuch")
        self.fails("gnt-network list nosuch", "unknown_entity.*\n.*nosuch")
        status, out, err = self.scene().run(["gnt-network", "info", "nosuch"])
        self.assertEqual((status, out), (0, ""))
        self.assertIn("nosuch", err)
        self.assertIn("Network name: net1", self.ok("gnt-network info nosuch net1"))

    def test_refused(self) -> None:
        """What the command itself sees."""
        self.fails("gnt-network add net4", "The --network option must be given")
        self.fails("gnt-network add --network=10.7.0.0/33 net4", "wrong_input")
        self.fails("gnt-network modify net1", "Please give at least one of the parameters")
        self.ok(ADD)
        self.fails("gnt-network modify --gateway=none net1", "wrong_input")
        self.fails("gnt-network connect -N nosuch=1 net1 default", "unknown NIC parameter 'nosuch'")
        self.fails("gnt-network connect -N mode=bogus net1 default", "bogus")
        self.fails("gnt-network connect net1 nosuch", "unknown_entity")


class HookTests(ClusterCase):
    """What Ganeti 3.0.2 was seen to tell the scripts around these commands, and where they ran."""

    def ran(self, directory: str) -> dict[str, dict[str, str]]:
        """What a script was told of networks and groups, by node."""
        script = str(self.cluster.paths.hooks_dir / directory / "seen")
        return {
            node.name.split(".")[0]: {
                key: value for key, value in call.env.items() if "NETWORK_" in key or "GROUP_" in key
            }
            for node in self.cluster.nodes.values()
            if hasattr(node, "scripts")
            for call in node.scripts.calls
            if call.argv == (script,)
        }

    def test_told(self) -> None:
        """The network on the master; the connection on all nodes of the group; the name when it is removed."""
        hooks = ("add", "connect", "disconnect", "remove")
        for node in self.cluster.nodes.values():
            for directory in [f"network-{hook}-{phase}.d" for hook in hooks for phase in ("pre", "post")]:
                put(node.disk, self.cluster.paths.hooks_dir / directory / "seen", b"#!/bin/sh\n", 0o755)
        self.ok(ADD)
        self.ok("gnt-network connect -N mode=bridged,link=br0 net1 default")
        self.ok("gnt-network disconnect net1 default")
        self.ok("gnt-network remove net1")
        added = {
            "GANETI_NETWORK_NAME": "net1",
            "GANETI_NETWORK_SUBNET": "10.5.0.0/28",
            "GANETI_NETWORK_GATEWAY": "10.5.0.1",
            "GANETI_NETWORK_SUBNET6": "2001:db8:5::/64",
            "GANETI_NETWORK_GATEWAY6": "2001:db8:5::1",
            "GANETI_NETWORK_MAC_PREFIX": "aa:00:55",
            "GANETI_NETWORK_TAGS": "nettag1 nettag2",
        }
        connection = {
            "GANETI_GROUP_NAME": "default",
            "GANETI_GROUP_NETWORK_MODE": "bridged",
            "GANETI_GROUP_NETWORK_LINK": "br0",
            "GANETI_GROUP_NETWORK_VLAN": "",
        }
        of_group = dict.fromkeys(("node1", "node2", "node3"), connection)
        for hook, told in (
            ("add", {"node1": added}),
            ("connect", of_group),
            ("disconnect", of_group),
            ("remove", {"node1": {"GANETI_NETWORK_NAME": "net1"}}),
        ):
            self.assertEqual(self.ran(f"network-{hook}-pre.d"), told, hook)
            after = {
                node: {**seen, **{key.replace("GANETI_", "GANETI_POST_"): value for key, value in seen.items()}}
                for node, seen in told.items()
            }
            self.assertEqual(self.ran(f"network-{hook}-post.d"), after, hook)
