"""gnt-debug wconfd in a whole cluster."""

from ganeti_tx.test.inprocess.case import ClusterCase, delay


class WconfdTests(ClusterCase):
    """Its requests, beside a job that holds a lock and one that waits for it."""

    def test_echo(self) -> None:
        """It listens; what it does not know is refused."""
        self.assertEqual(self.ok("gnt-debug wconfd echo hello"), "Answer: hello\n")
        self.assertEqual(self.ok("gnt-debug wconfd flushconfig"), "Configuration flushed.\n")
        self.fails("gnt-debug wconfd nosuch", "Command 'nosuch' not supported")
        self.fails("gnt-debug wconfd echo", "echo takes 1 argument")
        self.fails("gnt-debug wconfd listlocks web1", "not a job id: 'web1'")

    def test_locks(self) -> None:
        """Who has what, and who waits."""
        self.assertEqual(self.ok("gnt-debug wconfd listalllocks"), "")
        uuid = next(uuid for uuid, node in self.cluster.config.nodes.items() if node.name == "node2.example.com")
        holder = self.luxi().submit_job([delay(100, on_master=False, on_nodes=["node2"], no_locks=False)])
        self.cluster.pass_time(5)
        waiter = self.luxi().submit_job([{"OP_ID": "OP_CLUSTER_SET_PARAMS", "candidate_pool_size": 5, "reason": []}])
        self.cluster.pass_time(5)
        self.assertIn(f"node/{uuid} shared\n", self.ok(f"gnt-debug wconfd listlocks {holder}"))
        self.assertIn(f"node/{uuid}\n", self.ok("gnt-debug wconfd listalllocks"))
        status = self.ok("gnt-debug wconfd listalllocksstatus")
        self.assertIn(f"node/{uuid} shared job{holder}\n", status)
        self.assertIn(f" - - (waiting for exclusive: job{waiter})\n", status)
        self.assertEqual(self.ok("gnt-debug wconfd cleanuplocks"), "Stale locks cleaned up.\n")
        self.cluster.pass_time(300)
        self.assertEqual(self.statuses(holder, waiter), ["success", "success"])
