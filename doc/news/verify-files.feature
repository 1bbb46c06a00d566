``gnt-cluster verify`` compares the keys that nodes have alike: it names those that are missing, should not be there, or differ.
