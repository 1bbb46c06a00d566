"""Which node is the master: votes, the change of masters, the master's address, and stepping down."""
