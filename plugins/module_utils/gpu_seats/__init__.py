"""Declarations of GPU seats and everything that is derived from them.

The package is importable as ``gpu_seats`` on the controller and as ``ansible.module_utils.gpu_seats`` in
modules, therefore every import inside it is relative. ``observe``, ``apply``, ``verify``, ``findings`` and
``units`` also run on targets: standard library only, Python 3.9 syntax, no import of pydantic or PyYAML.
"""
