"""Engines of the lab: simulators and real ones, one folder each."""
