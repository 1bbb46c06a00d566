``gnt-cluster epo`` switches nodes off in an emergency by their out-of-band programs, with the instances on them stopped before and the watcher paused; ``--on``
brings them back: they get power one after the other, are waited for, and what should run there is started.
