"""SIMULATED BMC of the gpu-seats lab: no board is behind it, its watts are made from the simulated cards.

It speaks IPMI 2.0 (RMCP+, cipher suite 3) through pyghmi's server side, so that the real ipmitool reads it. It says
what it is in its FRU (`ipmitool fru`); its manufacturer ID is 0, "unspecified".

    /etc/gpu-seats-lab/bmc.json, bmc-password   address, user, the host's declared watts; the password, root's alone
    state directory (BMC_SIM_DIR, by default /var/lib/bmc-sim):
        faults/<name>.json                      a failure that is switched on: {"value": number or null}
        board.json                              chassis flags and conditions of the power supplies
        sel.json                                the system event log

Standard library and Debian's python3-pyghmi, Python 3.11 and newer.
"""
