"""ganeti-watcher: what a timer runs on every node so that daemons and instances that died come back."""
