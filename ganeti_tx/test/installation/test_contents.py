"""What is put on a machine, before it is."""

from argparse import ArgumentTypeError
from importlib.metadata import EntryPoint
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.installation.accounts import commands
from ganeti_tx.installation.contents import INIT_SCRIPT, INTERFACE_SCRIPTS, MARK, UNITS, contents, has_mark
from ganeti_tx.installation.main import directories
from ganeti_tx.model.search_paths import INSTANCE_ALLOCATORS_FILE
from ganeti_tx.node.hypervisor.nics.program import PROGRAMS as PROGRAMS_OF_INTERFACES
from ganeti_tx.runtime.path_modes import DIRECTORY_MODES, GROUPS, USERS
from ganeti_tx.runtime.shipped import shipped

PROGRAMS = Path("/srv/venv/bin")
NODE = {"gnt-node": EntryPoint("gnt-node", "ganeti_tx.cli.main:gnt_node", "console_scripts")}


class ContentsTests(SynchronousTestCase):
    """Files and links."""

    def test_programs(self) -> None:
        """Units start the programs from where they are, and links lead there, unless everybody looks there anyway."""
        there = contents(PROGRAMS, NODE)
        self.assertEqual(there.links, {"usr/local/sbin/gnt-node": PROGRAMS / "gnt-node"})
        self.assertIn("PATH=/srv/venv/bin:", there.files["etc/systemd/system/ganeti-noded.service"])
        self.assertEqual(contents(Path("/usr/local/bin"), NODE).links, {})
        for path, text in there.files.items():
            first = next(line for line in text.splitlines() if not line.startswith(("#!", "#compdef ")))
            self.assertEqual((first.removeprefix('.\\" '), has_mark(text)), (MARK, True), path)

    def test_directories(self) -> None:
        """A boot makes every directory of the table, with its users."""
        lines = contents(PROGRAMS, NODE).files["etc/tmpfiles.d/ganeti.conf"].splitlines()
        self.assertIn("d /run/ganeti 1775 root gnt-daemons -", lines)
        self.assertIn("d /var/lib/ganeti/queue 0750 gnt-masterd gnt-daemons -", lines)
        self.assertEqual(len(lines), 1 + len(DIRECTORY_MODES))

    def test_rotation(self) -> None:
        """Logs are rotated in the name of the directory's group: logrotate refuses a directory that others can write to."""
        text = shipped("logrotate/ganeti").read_text()
        self.assertIn(f"su root {GROUPS[DIRECTORY_MODES['/var/log/ganeti'].group]}\n", text)

    def test_init_script(self) -> None:
        """It is a script that looks for the programs where they are, and a file of ours all the same."""
        text = contents(PROGRAMS, NODE).files[INIT_SCRIPT]
        self.assertTrue(text.startswith("#!/bin/sh\n"))
        self.assertIn("PATH=/srv/venv/bin:", text)
        self.assertEqual([has_mark(text), has_mark("#!/bin/sh\necho\n" + text), has_mark("x")], [True, False, False])

    def test_interface_scripts(self) -> None:
        """They are where Ganeti has them, and are run by what runs the programs."""
        files = contents(PROGRAMS, NODE, interpreter=Path("/srv/venv/bin/python")).files
        for name in INTERFACE_SCRIPTS:
            words = files[f"usr/lib/ganeti/{name}"].splitlines()[-1].split()
            self.assertEqual((words[1], words[-2:]), ("/srv/venv/bin/python", [name, '"$@"']))
            self.assertIn(name, PROGRAMS_OF_INTERFACES)

    def test_units(self) -> None:
        """Each daemon's unit has the user and group of the table, and its lines in the journal have its name."""
        for daemon in ("master", "luxid", "wconfd", "confd", "rapi", "noded", "mond", "metad"):
            part = "masterd" if daemon == "master" else daemon
            lines = shipped(f"systemd/ganeti-{daemon}.service").read_text().splitlines()
            wanted = [] if USERS[part] == "root" else [f"User={USERS[part]}", f"Group={GROUPS[part]}"]
            self.assertEqual([line for line in lines if line.startswith(("User=", "Group="))], wanted, daemon)
            self.assertIn("SyslogIdentifier=%p", lines, daemon)

    def test_timers(self) -> None:
        """What a timer starts is there, starts nothing by itself, and is what the sample for cron starts as the same user."""
        files = contents(PROGRAMS, NODE).files
        units = {Path(path).name: text for path, text in files.items() if path.startswith(UNITS)}
        timers = sorted(name for name in units if name.endswith(".timer"))
        self.assertEqual(timers, ["ganeti-cleaner-master.timer", "ganeti-cleaner-node.timer", "ganeti-watcher.timer"])
        cron = set()
        for timer in timers:
            service = units[timer.replace(".timer", ".service")]
            self.assertIn("[Install]\nWantedBy=timers.target\n", units[timer])
            self.assertNotIn("[Install]", service)
            lines = dict(line.split("=", 1) for line in service.splitlines() if "=" in line)
            cron.add((lines.get("User", "root"), lines["ExecStart"].split(maxsplit=1)[1].replace(" $WATCHER_ARGS", "")))
        jobs = [line.split() for line in files["etc/cron.d/ganeti"].splitlines() if line[:1] in "*0123456789"]
        self.assertEqual({(line[5], " ".join(line[line.index("||", 11) + 1 :])) for line in jobs}, cron)


class AccountTests(SynchronousTestCase):
    """The users and groups of a machine without systemd."""

    def test_all(self) -> None:
        """Every name of the table is made; the master's daemon is in the groups to which it gives files."""
        text = shipped("sysusers.d/ganeti.conf").read_text()
        made = {line.split()[1] for line in text.splitlines() if line[:1] in "ug"}
        self.assertEqual(({*USERS.values(), *GROUPS.values()} - {"root"}) - made, set())
        for group in ("gnt-confd", "gnt-luxid", "gnt-daemons"):
            self.assertIn(f"m gnt-masterd {group}", text.splitlines())

    def test_commands(self) -> None:
        """Who is missing is made, who is there is not."""
        text = (
            'u gnt-example - "An example" /srv/x\nu root - "Root" /root\ng root -\n# no\n\nm gnt-example gnt-example2\n'
        )
        user = ["--user-group", "--home-dir", "/srv/x", "--no-create-home", "--shell", "/usr/sbin/nologin"]
        self.assertEqual(
            list(commands(text)),
            [
                ["useradd", "--system", *user, "--comment", "An example", "gnt-example"],
                ["usermod", "--append", "--groups", "gnt-example2", "gnt-example"],
            ],
        )


class SearchPathTests(SynchronousTestCase):
    """Where instance allocators are looked for is set when a machine is set up."""

    def test_written(self) -> None:
        """Only when it is given, so that it stays when the machine is set up again."""
        found = contents(Path("/opt/bin"), {}, ["/srv/allocators", "/usr/lib/ganeti/iallocators"])
        text = found.files[INSTANCE_ALLOCATORS_FILE]
        self.assertEqual(text, f"{MARK}\n/srv/allocators\n/usr/lib/ganeti/iallocators\n")
        self.assertNotIn(INSTANCE_ALLOCATORS_FILE, contents(Path("/opt/bin"), {}).files)

    def test_option(self) -> None:
        """Absolute paths, separated by commas."""
        self.assertEqual(directories("/a, /b"), ["/a", "/b"])
        for text in ("a", "/a,b", "", ","):
            self.assertRaises(ArgumentTypeError, directories, text)
