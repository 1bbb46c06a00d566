"""The disks of instances: what is asked for, made, shown, taken down and removed."""
