A node that is added with the node parameter ovs gets its Open vSwitch, with the device ovs_link in it; what prevents it is said before the node is added.
So does one of which such a parameter is changed by gnt-node modify, as the master's.
