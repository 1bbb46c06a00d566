The disk template ``ext``: disks on external storage, by the scripts of providers below ``/srv/ganeti/extstorage`` and the other directories of Ganeti's search path.
