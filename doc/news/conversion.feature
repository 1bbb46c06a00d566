"gnt-instance modify -t TEMPLATE" converts the disks of a stopped instance: to files, shared files, volumes of a provider, and mirrors
where nodes have a driver for them. A failure, a cancellation or the death of any process leaves the instance as it was.
