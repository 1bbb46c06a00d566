Live migration under KVM is encrypted, and each node makes sure that it is the other one (parameter ``migration_tls``, true unless set).
With ``postcopy-ram`` in ``migration_caps`` a connection that is lost while memory is fetched is made anew, by the job or by ``gnt-instance migrate --cleanup``; an instance that has run elsewhere is never let go on from old memory.
