Disks of template drbd: two nodes keep them alike with DRBD 8.4, with static minors, all disk parameters of Ganeti, and a secret that
stands in no argument list. `gnt-cluster verify` tells of modules that cannot be used, of another usermode helper, of versions that
differ within a group, and of minors that nobody owns or that are missing (ENODEDRBD, ENODEDRBDHELPER, ENODEDRBDVERSION).
