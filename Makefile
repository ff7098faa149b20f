# Every target makes the environment it needs; nothing has to be set up by hand.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
CORE_SOURCES := CMakeLists.txt pyproject.toml $(wildcard cpp/core/*/* cpp/bind/*)
# An editable install knows the packages that were there when it was made.
PACKAGES := $(wildcard src/bayesmend/*/__init__.py src/bayesmend/*/*/__init__.py)
BUILD_FLAGS ?= --config-settings=cmake.define.BAYESMEND_WERROR=ON

.PHONY: demo test lint format stubs reproduce bench bench-augment bench-em preflight clean

demo: $(VENV)/.installed
	$(BIN)/bayesmend demo --out demo

test: $(VENV)/.installed
	$(BIN)/python -m pytest

lint: $(VENV)/.installed $(VENV)/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run --Werror cpp/core/*/* cpp/bind/*
	$(BIN)/python -m nanobind.stubgen -m bayesmend._core -o build/_core.pyi
	@diff -u src/bayesmend/_core.pyi build/_core.pyi \
	  || { echo "src/bayesmend/_core.pyi is stale. Run 'make stubs'." >&2; exit 1; }

format: $(VENV)/.lint
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i cpp/core/*/* cpp/bind/*

stubs: $(VENV)/.installed
	$(BIN)/python -m nanobind.stubgen -m bayesmend._core -o src/bayesmend/_core.pyi

# make reproduce ONLY="table1 table2" QUICK=1 JOBS=4 DATA=/path/to/data OUT=folder
reproduce: $(VENV)/.installed
	$(BIN)/python -m experiments $(or $(ONLY),all) $(if $(QUICK),--quick) $(if $(JOBS),--jobs $(JOBS)) \
	  $(if $(DATA),--data "$(DATA)") $(if $(OUT),--out "$(OUT)")

bench: $(VENV)/.installed $(VENV)/.peers
	$(BIN)/python -m benchmarks.speed

bench-augment: $(VENV)/.installed
	$(BIN)/python -m benchmarks.augment

bench-em: $(VENV)/.installed $(VENV)/.peers
	$(BIN)/python -m benchmarks.em

preflight:
	@command -v $(PYTHON) >/dev/null || { \
	  echo "Python not found as '$(PYTHON)'. Install Python 3.11 or later, or name it: make PYTHON=/path/to/python." >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "$(PYTHON) is $$($(PYTHON) -V 2>&1). bayesmend needs Python 3.11 or later: make PYTHON=/path/to/python." >&2; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { \
	  echo "$(PYTHON) has no venv module. Install it (Debian/Ubuntu: apt install python3-venv)." >&2; exit 1; }
	@command -v $${CXX:-c++} >/dev/null || command -v g++ >/dev/null || command -v clang++ >/dev/null || { \
	  echo "No C++ compiler found (looked for $${CXX:-c++}, g++, clang++). Install one (Debian/Ubuntu: apt install g++)." >&2; exit 1; }
	@test -f "$$($(PYTHON) -c 'import sysconfig; print(sysconfig.get_path("include"))')/Python.h" || { \
	  echo "Python.h not found for $(PYTHON). Install the headers (Debian/Ubuntu: apt install python3-dev)." >&2; exit 1; }

$(VENV)/.created: | preflight
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet "scikit-build-core>=0.11,<2" "nanobind>=2.9,<4"
	@# The backend asks for these wheels only where the system has none.
	@command -v cmake >/dev/null || $(BIN)/python -m pip install --quiet "cmake>=3.20"
	@command -v ninja >/dev/null || command -v ninja-build >/dev/null || $(BIN)/python -m pip install --quiet ninja
	@touch $@

$(VENV)/.installed: $(VENV)/.created $(CORE_SOURCES) $(PACKAGES)
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python -m pip install --quiet --no-build-isolation $(BUILD_FLAGS) --editable ".[cli,frames,networkx]" --group test
	@touch $@

$(VENV)/.lint: $(VENV)/.created pyproject.toml
	$(BIN)/python -m pip install --quiet --group lint
	@touch $@

$(VENV)/.peers: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --group peers
	@touch $@

clean:
	rm -rf $(VENV) build dist demo
