``move-instance`` (also in ``/usr/lib/ganeti/tools``) brings instances from one cluster to another by the Remote APIs of both,
with the options of Ganeti's tool and ``--keep-source-instance``. What it uses is there for others, too, as Ganeti has it: exports
of mode ``remote`` and their preparation, and new instances of mode ``remote-import``. The clusters need the same domain secret.
The source removes its instance only when the new one is there for good; a running one that was to be removed with its export runs
again when that fails.
