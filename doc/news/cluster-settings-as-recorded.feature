``gnt-cluster modify`` says what Ganeti's says of a new netmask or device of the cluster's address, of directories that are the cluster's already,
of parameters of mirrors, and of the network of instance communication; ``gnt-cluster info`` shows the parameters of the default allocator a line each;
``gnt-cluster deactivate-master-ip`` asks in Ganeti's words.
