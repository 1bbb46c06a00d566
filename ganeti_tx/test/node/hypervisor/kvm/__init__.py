"""The KVM driver."""
