``gnt-debug wconfd`` asks the configuration daemon directly: whether it listens, and which jobs hold and want which locks.
