``gnt-instance add -c yes`` gives an instance one more NIC, in the network that ``gnt-cluster modify --instance-communication-network`` names.
