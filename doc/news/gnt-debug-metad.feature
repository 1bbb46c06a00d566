``gnt-debug metad echo TEXT`` asks the metadata daemon of the node, and says so when none listens.
