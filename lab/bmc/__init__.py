"""The lab host's simulated BMC: what is laid onto the host for it."""
