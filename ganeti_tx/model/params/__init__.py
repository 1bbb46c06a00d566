"""Parameters of instances, nodes, disks and policies: their types, their defaults, and one fill function a kind."""
