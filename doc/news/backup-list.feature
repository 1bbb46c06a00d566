"gnt-backup list" and "list-fields" show which exports nodes have.
