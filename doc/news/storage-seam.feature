Disks that are made of others are put together on their nodes in one place: children are assembled below their parent, and
what fails half-way is taken back. New kinds of storage need a declaration, a folder and a test.
