`/var/log/ganeti/commands.log` has every command with its words (private and secret parameters left out), `/var/log/ganeti/jobs.log`
what the processes of jobs did.
While an instance's disks are ready, `/var/run/ganeti/instance-disks/INSTANCE:INDEX` leads to each of them.
A new cluster has SPICE certificates of its own on all nodes (`spice.pem`, `spice-ca.pem`), so `spice_use_tls` works.
