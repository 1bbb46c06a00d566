Completion offers the words that parameters may be (``-H kvm:disk_aio=``, ``--net 0:mode=``), and the fields of ``gnt-node volumes`` and ``list-storage``.
