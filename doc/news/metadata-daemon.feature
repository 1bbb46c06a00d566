``ganeti-metad`` tells instances that have a communication NIC (``gnt-instance add -c yes``) of themselves over HTTP at 169.254.169.254: OS parameters and
scripts, SSH keys and user data, as EC2's and NoCloud's trees for cloud-init, too. The node daemon starts it when such an instance starts. ``doc/metadata.rst``
