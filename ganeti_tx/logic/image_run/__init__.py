"""Running an instance, for a while, from an image of the cluster in the place of what is on its own disks."""
