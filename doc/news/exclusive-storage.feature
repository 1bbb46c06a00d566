The node parameter ``exclusive_storage`` is kept to everywhere: disks of other templates than plain are refused there, ``spindles``
elsewhere; how many physical volumes each disk has is recorded, and found out by ``gnt-cluster repair-disk-sizes``; free room, spindles
and the policy's ``spindle-use`` count physical volumes on which nothing lies; and the physical volumes of a group must be alike when
it is switched on, and when nodes come to it.
