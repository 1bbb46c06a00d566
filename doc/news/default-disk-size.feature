A disk of a new instance of which no size is said (or ``size=auto``) gets the cluster's: ``gnt-cluster init`` and ``modify --defaults disksize=SIZE`` set
it (as ``--default-disk-size`` does), ``gnt-cluster info`` shows it. ``gnt-cluster modify`` takes ``--defaults`` now, too. NIC modes may be spelled
``bridge`` and ``route``.
