``gnt-instance list --watch[=SECONDS]`` and the other lists show themselves again until Ctrl-C, in their place on a terminal; a master daemon that is restarted is waited for.
