"""Adapters between Ansible's variables and the pure packages; action, lookup and callback plugins use them."""
