The disk template ``plain`` keeps disks in logical volumes of LVM: on as few physical volumes as will do, striped if asked, tagged
with the instance's name, growing while they are used, with snapshots, other names, and volumes that are adopted.
``gnt-cluster init`` and ``modify`` take ``--vg-name``; a cluster that is to have ``plain`` disks needs it.
