"""Findings and verdicts for people and for machines (controller only)."""
