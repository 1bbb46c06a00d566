A cluster that runs instances: cluster, node, instance, job, OS and tag commands; a job queue with warm job processes; locks and
configuration behind WConfD; node calls over mutual TLS; QEMU and a fake hypervisor; disks in files; a devcluster for one machine.
