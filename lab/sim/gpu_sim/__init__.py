"""SIMULATED NVIDIA cards for the lab: no GPU, no driver and no NVIDIA software is behind any of these numbers.

State lives in one directory (`GPU_SIM_DIR`, by default /var/lib/gpu-sim), bind-mounted into every container that
asks for a card:

    cards.json                          the cards, their limits, the driver's version
    cards.lock                          held by a program that changes cards.json
    persistenced.lock                   held by nvidia-persistenced while it runs
    claims/<card uuid>/<name>.json      memory held on a card: {"process", "mib", "watts"}, while its holder lives
    faults/<name>.json                  a failure that is switched on: {"card": uuid or null, "value": text or null}
    engine-faults/<seat>.json           read by the engine simulators

Standard library only, Python 3.11 and newer.
"""
