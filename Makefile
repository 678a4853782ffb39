# Two commands are enough on a bare machine: `make demo` and `make test`. Both set up what is missing, once.

PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test check ready engine clean

demo: ready
	@$(BIN)/python tests/data/demo/demo.py

test: ready
	$(BIN)/python -m pytest -q -n 3 --dist loadscope $(TESTS)

check: .venv/.ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

ready: .venv/.ready engine
	@$(BIN)/python -m sandbox.base_image

engine:
	@sh .ci/engine

.venv/.ready: pyproject.toml
	@sh .ci/venv "$(PYTHON)"
	@touch $@

clean:
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis
