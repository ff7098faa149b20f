# Every target makes the environment it needs; nothing has to be set up by hand.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
CORE_SOURCES := CMakeLists.txt pyproject.toml $(wildcard cpp/core/*/* cpp/bind/*)
# An editable install knows the packages that were there when it was made.
PACKAGES := $(wildcard src/bayesmend/*/__init__.py src/bayesmend/*/*/__init__.py)
BUILD_FLAGS ?= --config-settings=cmake.define.BAYESMEND_WERROR=ON

# One worker per core; a test that takes long is not waited for by the others.
PYTEST := $(BIN)/python -m pytest --numprocesses=logical --dist=worksteal
# What runs in the core most, without what measures time or memory.
ASAN_TESTS := tests/test_answers.py tests/test_score.py tests/data/test_csv.py tests/data/test_patterns.py \
  tests/network tests/structure tests/inference/test_posterior.py tests/learning/augment/test_bound.py
ASAN_CHOICE := not slow and not ctrl_c and not time_limit and not in_time and not progress and not too_wide

.PHONY: demo test test-slow test-browser test-js docs lint lint-js format stubs dist wheel smoke asan tsan sanitize fuzz reproduce bench bench-augment bench-em bench-tables bench-scale bench-field preflight clean

demo: $(VENV)/.installed
	$(BIN)/bayesmend demo --out demo

test: $(VENV)/.installed
	$(PYTEST) -m "not slow and not browser"

# And properties on as many random instances as they ask for; make test takes a share of them.
test-slow: $(VENV)/.installed
	BAYESMEND_THOROUGH=1 $(PYTEST) -m "(slow or hypothesis) and not browser"

# Those that find no Chromium are skipped.
test-browser: $(VENV)/.browser
	$(PYTEST) -m browser

# The scripts of pages; Node runs their tests without any package.
test-js:
	@if command -v node >/dev/null; then node --test tests/view/*.test.js; \
	else echo "Node is not found: the tests of the scripts are skipped (Debian/Ubuntu: apt install nodejs)."; fi

# The site; examples are run, and a warning is an error. Open build/docs/index.html.
docs: $(VENV)/.docs
	rm -rf build/docs docs/reference/generated
	$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going --builder html docs build/docs

lint: $(VENV)/.installed $(VENV)/.lint lint-js
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run --Werror cpp/core/*/* cpp/bind/* cpp/check/*
	PATH="$(abspath $(BIN)):$$PATH" cmake -S . -B build/tidy -DPython_EXECUTABLE="$(abspath $(BIN))/python" > /dev/null
	ls cpp/core/*/*.cpp | xargs -n 1 -P $$(getconf _NPROCESSORS_ONLN) $(BIN)/clang-tidy --quiet -p build/tidy
	$(BIN)/python -m nanobind.stubgen -m bayesmend._core -o build/_core.pyi
	@diff -u src/bayesmend/_core.pyi build/_core.pyi \
	  || { echo "src/bayesmend/_core.pyi is stale. Run 'make stubs'." >&2; exit 1; }

# Tools of package.json; where they cannot be had, the scripts are not looked at.
lint-js:
	@if [ -d node_modules ] || { command -v npm >/dev/null && npm ci --silent; }; then npm run --silent lint; \
	else echo "npm or its packages are not found: the scripts are not linted."; fi

format: $(VENV)/.lint
	@if [ -d node_modules ]; then npm run --silent format; fi
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i cpp/core/*/* cpp/bind/* cpp/check/*

stubs: $(VENV)/.installed
	$(BIN)/python -m nanobind.stubgen -m bayesmend._core -o src/bayesmend/_core.pyi

dist: $(VENV)/.installed
	rm -rf dist
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python -m pip wheel --quiet --no-deps --no-build-isolation $(BUILD_FLAGS) --wheel-dir dist .
	@$(BIN)/python -c 'from scikit_build_core.build import build_sdist; build_sdist("dist")'

# The Linux wheel as users get it: for every Linux with this or a later C library, installed
# where neither a compiler nor anything else of the system is in sight.
wheel: dist $(VENV)/.wheel
	rm -rf build/wheelhouse build/wheel
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python -m auditwheel repair --wheel-dir build/wheelhouse dist/*.whl > build/wheel.log 2>&1 \
	  || { cat build/wheel.log >&2; exit 1; }
	mv build/wheelhouse/*.whl dist && rm dist/*-linux_*.whl
	$(PYTHON) -m venv build/wheel
	env -i HOME="$$HOME" PATH="$(abspath build/wheel/bin)" \
	  build/wheel/bin/python -m pip install --quiet --only-binary :all: "$$(ls dist/*.whl)[cli]"
	env -i PATH="$(abspath build/wheel/bin)" build/wheel/bin/python tests/smoke.py dist/*.whl

smoke: wheel
	rm -rf build/smoke && $(PYTHON) -m venv build/smoke
	build/smoke/bin/python -m pip install --quiet "$$(ls dist/*.tar.gz)[cli]"
	build/smoke/bin/python tests/smoke.py dist/*.tar.gz

# An environment of its own, since an editable install comes before any path.
SITE := import sysconfig; print(sysconfig.get_path("purelib"))
asan: export PATH := $(abspath $(BIN)):$(PATH)
asan: $(VENV)/.installed
	cmake -S . -B build/asan -G Ninja -DCMAKE_BUILD_TYPE=Release -DBAYESMEND_SANITIZE=ON \
	  -DPython_EXECUTABLE="$(abspath $(BIN))/python" > /dev/null
	cmake --build build/asan > /dev/null
	rm -rf build/asan/site && mkdir -p build/asan/site && cp -r src/bayesmend build/asan/site
	cmake --install build/asan --prefix build/asan/site > /dev/null
	$(PYTHON) -m venv --clear --without-pip build/asan/env
	printf '%s\n' "$(CURDIR)/build/asan/site" "$$(python -c '$(SITE)')" > "$$(build/asan/env/bin/python -c '$(SITE)')/asan.pth"
	export ASAN_OPTIONS=detect_leaks=0 \
	  LD_PRELOAD="$$($${CXX:-c++} -print-file-name=libasan.so) $$($${CXX:-c++} -print-file-name=libstdc++.so.6)"; \
	build/asan/env/bin/python -c 'from bayesmend import _core; assert "build/asan" in _core.__file__' \
	&& build/asan/env/bin/python -m pytest --numprocesses=logical --dist=worksteal -q -k "$(ASAN_CHOICE)" $(ASAN_TESTS)

# make reproduce ONLY="table1 table2" QUICK=1 JOBS=4 DATA=/path/to/data OUT=folder
reproduce: $(VENV)/.installed
	$(BIN)/python -m experiments $(or $(ONLY),all) $(if $(QUICK),--quick) $(if $(JOBS),--jobs $(JOBS)) \
	  $(if $(DATA),--data "$(DATA)") $(if $(OUT),--out "$(OUT)")

# Whatever takes threads, called with 2 to 8 of them; and a race made on purpose, which must be reported.
tsan: export PATH := $(abspath $(BIN)):$(PATH)
tsan: $(VENV)/.created
	cmake -S . -B build/tsan -G Ninja -DCMAKE_BUILD_TYPE=Release -DBAYESMEND_RACES=ON \
	  -DPython_EXECUTABLE="$(abspath $(BIN))/python" > /dev/null
	cmake --build build/tsan --target check_threads > /dev/null
	build/tsan/check_threads
	@! build/tsan/check_threads race > build/tsan/race.log 2>&1 && grep -q "data race" build/tsan/race.log \
	  || { echo "The race made on purpose was not reported." >&2; exit 1; }

sanitize: asan tsan

# make fuzz INPUTS=100000 SEED=1; a run that was cut short goes on where it ended.
fuzz: $(VENV)/.installed
	$(BIN)/python -m fuzz --inputs $(or $(INPUTS),100000) --seed $(or $(SEED),1)

bench: $(VENV)/.installed $(VENV)/.peers
	$(BIN)/python -m benchmarks.speed

bench-augment: $(VENV)/.installed
	$(BIN)/python -m benchmarks.augment

bench-em: $(VENV)/.installed $(VENV)/.peers
	$(BIN)/python -m benchmarks.em

bench-tables: $(VENV)/.installed
	$(BIN)/python -m benchmarks.tables

bench-scale: $(VENV)/.installed $(VENV)/.peers
	$(BIN)/python -m benchmarks.scale

bench-field: $(VENV)/.installed
	$(BIN)/python -m benchmarks.field

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
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python -m pip install --quiet --no-build-isolation $(BUILD_FLAGS) --editable ".[cli,distributed,frames,networkx,notebook,plot,sklearn]" --group test
	@touch $@

$(VENV)/.lint: $(VENV)/.created pyproject.toml
	$(BIN)/python -m pip install --quiet --group lint
	@touch $@

# Chromium is not in any package index: Debian/Ubuntu have it as the package chromium.
$(VENV)/.browser: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --group browser
	@touch $@

$(VENV)/.wheel: $(VENV)/.created pyproject.toml
	$(BIN)/python -m pip install --quiet --group wheel
	@touch $@

$(VENV)/.docs: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --group docs
	@touch $@

$(VENV)/.peers: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --group peers
	@touch $@

clean:
	rm -rf $(VENV) build dist demo docs/reference/generated
