"""What a management controller (BMC) says of power: DCMI, sensors, chassis status and event log by ``ipmitool``."""
