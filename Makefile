# `make demo` and `make test` install what they need; see tools/setup.sh.
SHELL := /bin/bash

.PHONY: help setup build demo test gpu-check fmt

help:
	@echo 'make demo       build the release binaries and run the demonstration'
	@echo 'make test       everything that has to pass before a commit'
	@echo 'make build      the release binaries, in target/release'
	@echo 'make setup      only install what is missing'
	@echo 'make gpu-check  pack the GPU check into target/gpu-check'
	@echo 'make fmt        format the sources'

setup:
	@tools/setup.sh

build: setup
	@. tools/env.sh && cargo build --release

demo: build
	@tools/demo.sh

test: setup
	@tools/test.sh

gpu-check: build
	@tools/gpu-check.sh pack target/gpu-check

fmt:
	@. tools/env.sh && cargo fmt --all
