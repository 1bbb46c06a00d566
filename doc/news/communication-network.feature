``gnt-cluster modify --instance-communication-network`` makes the network if there is none of the name, with the addresses that Ganeti takes, and
submits a job for each node group that is not connected to it.
