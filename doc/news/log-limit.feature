Logs of OS scripts, of scripts of external storage and of init scripts of chroots are cut in their middle beyond 64 MiB, and say so there.
