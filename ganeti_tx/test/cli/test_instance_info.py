"""Tests of what gnt-instance info shows."""

import importlib
import json
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.cli.instance.info import described
from ganeti_tx.cli.tree import tree_lines
from ganeti_tx.test.cli.fakes import CommandLine
from ganeti_tx.test.cli.test_instances import INSTANCE

#: PyYAML, which is there for the tests and has no types.
YAML: Any = importlib.import_module("yaml")
NAMES = (
    "eth0",
    "[eth0",
    "{4D36E972-E325-11CE}",
    "Ethernet: 2",
    "*x",
    "%a #",
    "!!python/object",
    "@x",
    "- x",
    "? x",
    "",
    "no",
    "a'b\"",
)


class InfoTests(SynchronousTestCase):
    """gnt-instance info."""

    def test_golden(self) -> None:
        """One instance in full."""
        cli = CommandLine()
        cli.client.results["OP_INSTANCE_QUERY_DATA"] = {"web1": json.loads(json.dumps(INSTANCE))}
        outcome = cli("gnt-instance", "info", "web1")
        self.assertEqual((outcome.status, outcome.err), (0, ""))
        lines = [line for line in outcome.out.splitlines() if "ation time" not in line]
        self.assertEqual(lines, GOLDEN.replace("~", " ").splitlines())
        self.assertEqual(cli.client.submitted, [{"OP_ID": "OP_INSTANCE_QUERY_DATA", "instances": ["web1"]}])

    def test_display(self) -> None:
        """Where its VNC is stands behind its port; one without any has no line."""
        for bind, port, wanted in (
            ("0.0.0.0", 11001, "vnc to node1:11001 (display 5101)"),
            ("::", 11001, "vnc to node1:11001 (display 5101)"),
            ("127.0.0.1", 11001, "vnc to 127.0.0.1:11001 (node node1) (display 5101)"),
            ("::1", 11001, "vnc to [::1]:11001 (node node1) (display 5101)"),
            ("/srv/vnc", 11001, "vnc to node1:/srv/vnc"),
            ("0.0.0.0", None, None),
            ("", 11001, None),
        ):
            shown = {**INSTANCE, "network_port": port, "hv_actual": {"vnc_bind_address": bind}}
            lines = list(tree_lines(described(shown, in_roman=False)))
            found = lines[lines.index(f"Allocated network port: {port}") + 1 : lines.index("Hypervisor: kvm")]
            self.assertEqual(found, [] if wanted is None else [f"console connection: {wanted}"], bind)

    def test_addresses(self) -> None:
        """What the guest says, of which nothing commands a terminal."""
        told = {
            "interfaces": [{"name": "eth\x1b[2J", "mac": "aa:00", "addresses": ["192.0.2.7", "::7"]}],
            "left_out": 9,
        }
        lines = list(tree_lines(described({**INSTANCE, "guest_interfaces": told}, in_roman=False)))
        place = lines.index("Guest's addresses: ")
        self.assertEqual(
            lines[place + 1 : place + 3], ['  - "eth\\x1b[2J": 192.0.2.7, ::7 (MAC aa:00)', "  - and 9 more"]
        )

    def test_guests_words(self) -> None:
        """Whatever the guest calls its interfaces, and whatever addresses they have, the whole is YAML."""
        for addresses, mac in ((["192.0.2.7", "2001:db8::"], ""), (["2001:db8::"], "aa:00:00:00:00:01"), (["::7"], "")):
            interfaces = [{"name": name, "mac": mac, "addresses": addresses} for name in NAMES]
            told = {"interfaces": interfaces, "left_out": 0}
            text = "\n".join(tree_lines(described({**INSTANCE, "guest_interfaces": told}, in_roman=False)))
            shown = ", ".join(addresses) + (f" (MAC {mac})" if mac else "")
            self.assertEqual(YAML.safe_load(text)["Guest's addresses"], [{name: shown} for name in NAMES])

    def test_all_is_asked_for(self) -> None:
        """All instances are shown only with --all."""
        cli = CommandLine()
        self.assertEqual(cli("gnt-instance", "info").status, 1)
        cli.client.results["OP_INSTANCE_QUERY_DATA"] = {}
        self.assertEqual(cli("gnt-instance", "info", "--all", "-s").err, "No instances\n")
        self.assertEqual(cli.client.submitted, [{"OP_ID": "OP_INSTANCE_QUERY_DATA", "static": True}])


GOLDEN = """\
- Instance name: web1
  UUID: u1
  Serial number: 4
  State: configured to be up, actual state is up
  Nodes:~
    - primary: node1
      group: default (UUID g1)
    - secondaries: node2 (group default, group UUID g1)
  Operating system: busybox
  Operating system parameters:~
  Allocated network port: None
  Hypervisor: kvm
  Hypervisor parameters:~
    acpi: True
    vga: default ()
  Back-end parameters:~
    maxmem: default (128)
    memory: default (128)
    vcpus: default (1)
  NICs:~
    - nic/0:~
      MAC: aa:00:00:00:00:01
      IP: None
      mode: bridged
      link: br0
      vlan: None
      network: None
      UUID: n1
      name: eth
  Disk template: drbd
  Disks:~
    - disk/0: drbd, size 1.0G
      access mode: rw
      nodeA: a, minor=0
      nodeB: b, minor=1
      port: 11000
      on primary: /dev/drbd0 (147:0) in sync, status ok
      on secondary: /dev/drbd0 (147:0) *RECOVERING* 50.00%, ETA 12s
      name: None
      UUID: d1
      child devices:~
        - child 0: plain, size 1.0G
          logical_id: xenvg/lv1
          name: None
          UUID: d2
"""
