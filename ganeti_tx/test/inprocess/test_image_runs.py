"""Instances that are started from an image: to install an OS that no node trusts, and to fill free space with zeros."""

import json

from ganeti_tx.test.inprocess.disk import put
from ganeti_tx.test.inprocess.imaged_guest import IMAGE, MIB, NAME, with_images
from ganeti_tx.test.inprocess.test_metadata import MetadataCase

ADD = "gnt-instance add -t file -s 64M -o strange --ignore-ipolicy -n node2"
SECRET = "hush-hush"


class ImageCase(MetadataCase):
    """Every node has an OS whose script runs in the image only, and the image; an instance ends on node2 by itself."""

    def setUp(self) -> None:
        super().setUp()
        self.guest = with_images(self.cluster)

    def images_written(self) -> list[str]:
        """What was copied to disks of node2."""
        commands = self.cluster.node(2).scripts.commands
        return [" ".join(argv[:2] + argv[3:5]) for argv in commands if argv[0] == "dd"]


class InstallTests(ImageCase):
    """--install-image."""

    def test_without(self) -> None:
        """An OS that no node may install is refused while the cluster has no image for it, before anything is made."""
        self.fails(f"{ADD} web1", "wrong_input.*\n.*create_untrusted.*--install-image")
        self.assert_nothing_left(self.cluster)

    def test_add(self) -> None:
        """Parameters of all kinds, the script and its variables get in; the disk with the image goes, and then it starts."""
        self.ok(f"gnt-cluster modify --install-image={IMAGE}")
        self.ok(f"{ADD} -O flavour=mint --os-parameters-secret password={SECRET} web1")
        (read,) = self.guest.read
        self.assertEqual(read["create"], "#!/bin/sh\necho from inside\n")
        self.assertEqual(
            json.loads(read["parameters.json"]), {"flavour": ["mint", "public"], "password": [SECRET, "secret"]}
        )
        variables = read["environment"].splitlines()
        for line in ("export INSTANCE_NAME=web1.example.com", "export DISK_0_PATH=/dev/vdb", "export DISK_COUNT=1",
                     "export OS_NAME=strange", f"export OSP_PASSWORD={SECRET}"):  # fmt: skip
            self.assertIn(line, variables)
        self.assertNotIn("export INSTANCE_REINSTALL=1", variables)
        self.assertEqual(self.images_written(), [f"dd if={IMAGE} bs=1M count=3"])
        self.assertEqual(len(self.cluster.node(2).own_disks()), 1)
        self.assertEqual(self.cluster.running(), {"node2.example.com": [NAME]})
        (instance,) = self.cluster.config.instances.values()
        self.assertEqual([nic.name for nic in instance.nics], [None])

    def test_secrets(self) -> None:
        """Nothing of a secret is written down, whatever the script says and however it ends."""
        self.ok(f"gnt-cluster modify --install-image={IMAGE}")
        self.guest.says = f"the password is {SECRET}\nno room\nexit status 3\n"
        asked = f"{ADD} --os-parameters-secret password={SECRET} web1"
        said = self.fails(asked, r"its script said: the password is <redacted>; no room; exit status 3")
        self.assertNotIn(SECRET, said)
        self.assertIn(SECRET, self.guest.read[0]["parameters.json"])
        for node in self.cluster.members:
            self.assertEqual(node.disk.find(SECRET.encode()), [])
        self.assert_nothing_left(self.cluster)

    def test_silent(self) -> None:
        """An image that powers off without a word of the script's end has installed nothing."""
        self.ok(f"gnt-cluster modify --install-image={IMAGE}")
        for says, told in (
            ("", r"its script said nothing of its end \(a last line 'exit status 0'\)$"),
            ("exit status 0\nwhat now?\n", r"its script said nothing of its end .*, but: exit status 0; what now\?$"),
            ("no end of line: exit status 4", "its script said: no end of line: exit status 4$"),
        ):
            self.guest.says = says
            self.fails(f"{ADD} web1", told)
            self.assert_nothing_left(self.cluster)

    def test_reinstall(self) -> None:
        """Likewise; the script knows that it is not the first time."""
        self.ok(f"gnt-cluster modify --install-image={IMAGE}")
        self.ok(f"{ADD} --no-install --no-start web1")
        self.ok(f"gnt-instance reinstall -f --os-parameters-secret password={SECRET} web1")
        (read,) = self.guest.read
        self.assertIn("export INSTANCE_REINSTALL=1", read["environment"].splitlines())
        self.assertIn(SECRET, read["parameters.json"])
        self.assertEqual((self.cluster.running(), len(self.cluster.node(2).own_disks())), ({}, 1))

    def test_nothing_on_nodes(self) -> None:
        """A node runs no script of it at all, whatever becomes of the instance."""
        self.ok(f"gnt-cluster modify --install-image={IMAGE}")
        self.ok(f"{ADD} --no-start web1")
        self.ok("gnt-instance modify -O flavour=lemon web1")
        self.fails("gnt-backup export -n node2 web1", "only create_untrusted.* export script .*gnt-instance modify -o")
        said = self.ok("gnt-instance rename --force web1 web2")
        self.assertIn("OS strange has no script that node node2.example.com may run: what is installed keeps", said)
        self.ok("gnt-instance modify -o noop web2")
        self.ok("gnt-backup export -n node2 web2")
        disk, described = self.cluster.node(2).disk, self.cluster.paths.export_dir / "web2.example.com" / "config.ini"
        put(disk, described, disk.read(described, MIB).replace(b"os = noop", b"os = strange"))
        imported = "gnt-backup import -t file -n node2 --src-node=node2 --src-dir=web2.example.com"
        self.fails(
            f"{imported} --ignore-ipolicy --net 0:mac=generate web3",
            "only create_untrusted.* import script .*config.ini",
        )
        commands = [argv for node in self.cluster.members for argv in node.scripts.commands]
        self.assertEqual([argv for argv in commands if any("/strange/" in word for word in argv)], [])

    def test_endless(self) -> None:
        """A machine that does not power itself off is stopped in the end, and all is taken back."""
        self.ok(f"gnt-cluster modify --install-image={IMAGE}")
        self.guest.stays = True
        self.fails(f"{ADD} --helper-shutdown-timeout=60 web1", "did not power itself off within 60 seconds")
        self.assert_nothing_left(self.cluster)

    def test_killed(self) -> None:
        """When the job's process dies meanwhile, the machine is stopped and its disks are removed."""
        self.ok(f"gnt-cluster modify --install-image={IMAGE}")
        self.guest.stays = True
        job_id = self.scene().submit(ADD.replace(" add ", " add --submit ") + " web1")
        while not self.cluster.running():
            self.cluster.pass_time(0.1)
        process_id = self.job(job_id).process_id
        assert process_id is not None
        self.cluster.zygote.kill(process_id)
        self.cluster.pass_time(60)
        self.assertEqual(self.statuses(job_id), ["error"])
        self.assert_nothing_left(self.cluster)

    def test_untold(self) -> None:
        """One that can be told nothing is not waited for."""
        self.ok(f"gnt-cluster modify --install-image={IMAGE}")
        self.guest.stays = True
        self.cluster.node(2).metadata.fault = "ganeti-metad did not start: no"
        before = self.cluster.time.seconds()
        self.fails(f"{ADD} web1", "the install image cannot be told what to install: .*knows no instance web1")
        self.assertLess(self.cluster.time.seconds() - before, 60)
        self.assert_nothing_left(self.cluster)

    def test_no_image(self) -> None:
        """An image that is not on the node is told before anything is made."""
        self.ok("gnt-cluster modify --install-image=/srv/nowhere.img")
        self.fails(f"{ADD} web1", "environment_error.*\n.*/srv/nowhere.img: No such file")
        self.assert_nothing_left(self.cluster)


class ZeroingTests(ImageCase):
    """--zeroing-image."""

    def test_export(self) -> None:
        """The free space is filled after the stop and before the copy; then it runs again."""
        self.ok(f"gnt-cluster modify --zeroing-image={IMAGE}")
        self.ok("gnt-instance add -t file -s 64M -o noop --ignore-ipolicy -n node2 web1")
        told = self.ok("gnt-backup export --zero-free-space --long-sleep -n node1 web1").splitlines()
        (zeroed,) = [number for number, line in enumerate(told) if "Zeroing the free space" in line]
        (copied,) = [number for number, line in enumerate(told) if "Exporting disk/0" in line]
        self.assertLess(zeroed, copied)
        self.assertEqual(self.images_written(), [f"dd if={IMAGE} bs=1M count=3"])
        self.assertEqual([len(disks) for disks in self.guest.found], [2])
        self.assertEqual(len(self.cluster.node(2).own_disks()), 1)
        self.assertEqual(self.cluster.running(), {"node2.example.com": [NAME]})

    def test_endless(self) -> None:
        """The time it may take grows with the disks; afterwards it runs as before, and no disk is left."""
        self.ok(f"gnt-cluster modify --zeroing-image={IMAGE}")
        self.ok("gnt-instance add -t file -s 64M -o noop --ignore-ipolicy -n node2 web1")
        self.guest.stays = True
        asked = "--zero-free-space --long-sleep --zeroing-timeout-fixed=20 --zeroing-timeout-per-mib=0.5"
        self.fails(f"gnt-backup export {asked} -n node1 web1", "did not power itself off within 52 seconds")
        self.assertEqual(self.cluster.running(), {"node2.example.com": [NAME]})
        self.assertEqual(len(self.cluster.node(2).own_disks()), 1)
