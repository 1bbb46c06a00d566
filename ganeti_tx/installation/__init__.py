"""What installing the program leaves to be done on a machine: units, users, directories, completion, links."""
