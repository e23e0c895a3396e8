"""A GPU host to try everything on: a Debian 13 system container with simulated cards and engines.

Run `python -m lab up` (or `make lab`); `python -m lab --help` lists the verbs. Everything that the lab makes outside
git is in `.lab/` and in the outer machine's Docker, under names and labels that start with `gpu-seats`.
"""
