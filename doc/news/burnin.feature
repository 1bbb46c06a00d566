``burnin -o OS INSTANCE...`` (also in ``/usr/lib/ganeti/tools``), with Ganeti's options, tests a cluster before it has users: it makes instances, does to them all
that their disk template, the hypervisor and the number of nodes allow, one by one or (``--parallel``) all at once, looks after each step whether they run, and
removes them, also after a failure or an interrupt. It fails if anything of them is left.
