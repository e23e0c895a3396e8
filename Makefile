# The front door. `make help` lists what there is; everything sets itself up.
.DEFAULT_GOAL := help
.PHONY: help setup demo test lint unit lab lab-down lab-reset bench docs power
PYTHON := .venv/bin/python

help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 20

setup:  ## virtual environment with the pinned controller dependencies
	@python3 scripts/setup_venv.py

demo: setup  ## start the lab, deploy two seats, show a real completion
	@$(PYTHON) -m scripts.demo

test: setup  ## lint, unit tests, lab, molecule scenarios
	@$(PYTHON) -m scripts.check lint unit lab

lint: setup  ## ruff, mypy, yamllint, ansible-lint
	@$(PYTHON) -m scripts.check lint

unit: setup  ## tests that need no host
	@$(PYTHON) -m scripts.check unit

lab: setup  ## start the lab host, or bring a running one up to date
	@$(PYTHON) -m lab up

lab-reset: setup  ## a fresh lab host
	@$(PYTHON) -m lab reset

lab-down: setup  ## remove the lab host (its caches stay; `python -m lab down --all` removes them too)
	@$(PYTHON) -m lab down

bench: setup  ## the measures, as ratios from one run
	@$(PYTHON) tests/bench/run.py

power: setup  ## the power tree of every declared site, drawn: build/power/SITE.html and SITE.svg
	@$(PYTHON) -m scripts.power_pictures

docs: setup  ## the findings reference and the JSON Schemas, made from the code
	@.venv/bin/gpu-seats explain --markdown > docs/findings.md
	@.venv/bin/gpu-seats schema --write
