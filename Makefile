# The only commands to know. `make` alone lists them.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
DEVELOPED := $(VENV)/.developed
DOCUMENTED := $(VENV)/.documented

.DEFAULT_GOAL := help
.PHONY: help setup demo live page docs notebook test test-all check format bench soak fuzz clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(DEVELOPED) ## make the environment in .venv with all that tests need (PYTHON=python3.12 chooses another Python)

# What running needs, and what developing needs besides. Redone only when the list of it has changed.
$(INSTALLED): pyproject.toml constraints.txt
	@$(call install,export$(comma)live)
	@touch $@

$(DEVELOPED): pyproject.toml constraints.txt
	@$(call install,dev)
	@touch $(INSTALLED) $@

$(DOCUMENTED): pyproject.toml constraints.txt
	@$(call install,docs)
	@touch $@

# uv where it is there, else venv and pip. TORCH=cpu: uv then takes PyTorch's builds without CUDA.
comma := ,
define install
"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
  || { echo "leocod needs Python 3.11 or newer; give one with: make $(or $(MAKECMDGOALS),setup) PYTHON=/path/to/python" >&2; exit 1; }; \
if command -v uv >/dev/null 2>&1; then \
  uv venv --quiet --allow-existing --python "$(PYTHON)" $(VENV) && \
  uv pip install --python $(BIN)/python $(if $(TORCH),--torch-backend $(TORCH)) --editable '.[$(1)]' --constraint constraints.txt; \
else \
  "$(PYTHON)" -m venv $(VENV) && \
  $(BIN)/python -m pip install --disable-pip-version-check --editable '.[$(1)]' --constraint constraints.txt; \
fi
endef

demo: $(INSTALLED) ## run the main job with its defaults; every run gets a directory of its own under runs/
	$(BIN)/leocod run

live: $(INSTALLED) ## learn from the built-in world while you label it in the browser
	$(BIN)/leocod live

test: setup ## run the tests
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto -m "not slow"

test-all: test ## run the long forms of the tests, too
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto -m slow

check: setup ## format, lint, types, layers, dependencies
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/deptry src

format: setup ## put the code in its standard form
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: setup ## measure: each script prints a table and a ratio, figures go to results/bench
	@for script in step parts evaluation stream memory ema augment checkpoint startup growth live; do \
	  echo "== $$script" && OMP_NUM_THREADS=1 $(BIN)/python bench/$$script.py || exit 1; \
	done

page: ## build the live page into the package (needs Node 20); its tests
	cd page && npm ci && npm run check && npm test && npm run build

# Not --quiet: MkDocs then counts no warnings, and a broken link passes.
docs: $(DOCUMENTED) ## build the documentation site into site/; open site/index.html, no server is needed
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict
	@echo "open site/index.html"

notebook: $(DOCUMENTED) ## run docs/tour-in-python.py and store it with its outputs as a notebook
	OMP_NUM_THREADS=1 $(BIN)/python docs/site/notebook.py
	@echo "see docs/tour-in-python.ipynb; in the site after make docs"

soak: setup ## kill, starve and outlast it: 500 kills, every fault, 20,000 steps, a cut camera (more than an hour)
	rm -rf runs/soak
	OMP_NUM_THREADS=1 $(BIN)/python soak/faults.py
	OMP_NUM_THREADS=1 $(BIN)/python soak/kills.py
	OMP_NUM_THREADS=1 $(BIN)/python soak/paper_tables.py
	OMP_NUM_THREADS=1 $(BIN)/python soak/long_life.py
	OMP_NUM_THREADS=1 $(BIN)/python soak/live_kills.py
	OMP_NUM_THREADS=1 $(BIN)/python soak/live_rtsp.py

fuzz: setup ## feed damaged files to every reader, ten minutes each, and nonsense to the live page; findings go to runs/fuzz
	OMP_NUM_THREADS=1 $(BIN)/python fuzz/run.py --reader all --minutes 10 --jobs 2 --out runs/fuzz
	OMP_NUM_THREADS=1 $(BIN)/python fuzz/live.py --out runs/fuzz

clean: ## remove the environment and all caches; runs stay
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache build dist site
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +
