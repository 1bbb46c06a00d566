"""Which files travel that are not the cluster's own, by their paths."""

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.model.listed_files import parameter_fault, path_fault

NOT_PLAIN = "give the whole path, without . and .. and with single slashes"


class PathTests(SynchronousTestCase):
    """What may be sent at all, and what only because a parameter names it."""

    def test_plain(self) -> None:
        """A path has one form only, so that no other way of writing one gets past a rule."""
        for path in (
            *(
                "",
                "/",
                "//",
                "///",
                "motd",
                "./motd",
                "/etc/",
                "/etc//motd",
                "/etc/./motd",
                "/etc/../etc/motd",
                "/etc/..",
            ),
            *("//etc/motd", "//var/lib/ganeti/server.pem", "//proc/version", "///proc/version", "/etc/a\0b"),
        ):
            for fault in (path_fault, parameter_fault):
                self.assertEqual(fault(path), NOT_PLAIN, path)

    def test_closed(self) -> None:
        """Nothing of the cluster, of the kernel or of what runs; a name that only begins alike is another."""
        for path, fault in {
            "/var/lib/ganeti/server.pem": "the cluster sends it by itself",
            "/var/lib/ganeti": "nothing below /var/lib/ganeti is sent",
            "/var/lib/ganeti/mine": "nothing below /var/lib/ganeti is sent",
            "/proc/version": "nothing below /proc is sent",
            "/run/x": "nothing below /run is sent",
            "/var/run/x": "nothing below /var/run is sent",
        }.items():
            self.assertEqual(path_fault(path), fault, path)
        for path in ("/var/lib/ganeti2/x", "/process", "/etc/motd", "/etc/shadow", "/etc/ganeti/hooks/x"):
            self.assertIsNone(path_fault(path), path)

    def test_parameters(self) -> None:
        """What a parameter names is sent from the administrator's directory alone, and no program of it."""
        for path in ("/etc/ganeti/vnc-cluster-password", "/etc/ganeti/vnc/web1", "/etc/ganeti/hooks.txt"):
            self.assertIsNone(parameter_fault(path), path)
        for path in (
            *("/etc/shadow", "/root/.ssh/id_rsa", "/etc/ganeti2/x", "/usr/local/etc/ganeti/x"),
            *("/etc/ganeti/hooks/x", "/etc/ganeti/restricted-commands/x", "/etc/ganeti/scripts/master-ip-setup"),
        ):
            self.assertIn("list it in /etc/ganeti/distributed-files", str(parameter_fault(path)), path)
        self.assertEqual(parameter_fault("/proc/version"), "nothing below /proc is sent")
