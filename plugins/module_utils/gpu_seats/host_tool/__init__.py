"""The command that units on a host run: it keeps power caps, samples watts and looks into containers, without Ansible.

Standard library of Python 3.9 only. `controller.host_tool_archive` packs it into one file; see `main` for its verbs.
"""
