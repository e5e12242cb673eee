# Two commands: `make demo` trains a classifier on generated photos, `make test` runs all tests.
# Each makes its own environment below .venv/; nothing else on the machine is touched.

PYTHON ?= python3
# Folder with class folders of images; by default about 2,000 photos are generated.
DATA ?=
ENVIRONMENTS ?=

# pyenv hides all versions but the chosen one; the tests take every one that there is.
ifneq (,$(shell command -v pyenv))
export PYENV_VERSION := $(shell pyenv version-name):$(shell pyenv versions --bare | paste -sd:)
endif

export PIP_DISABLE_PIP_VERSION_CHECK = 1
export PIP_CONSTRAINT = $(CURDIR)/constraints.txt

.PHONY: demo test lint docs bench clean

demo: .venv/demo/installed
	.venv/demo/bin/python examples/train_classifier.py --work work $(if $(DATA),--data "$(DATA)")

test: .venv/tox/installed
	.venv/tox/bin/tox run $(if $(ENVIRONMENTS),-e $(ENVIRONMENTS))

lint: .venv/tox/installed
	.venv/tox/bin/tox run -e lint

docs: .venv/tox/installed
	.venv/tox/bin/tox run -e docs

bench: .venv/tox/installed
	.venv/tox/bin/tox run -e bench

SOURCES := $(shell git ls-files 2>/dev/null -- setup.py pyproject.toml 'dali_core/*' 'adapters/*')

.venv/demo/installed: $(SOURCES) constraints.txt
	$(PYTHON) -m venv .venv/demo
	.venv/demo/bin/python -m pip install --quiet --upgrade "pip>=24"
	.venv/demo/bin/python -m pip install --quiet ".[demo]"
	touch $@

.venv/tox/installed: constraints.txt
	$(PYTHON) -m venv .venv/tox
	.venv/tox/bin/python -m pip install --quiet --upgrade "pip>=24" "tox>=4.21,<5"
	touch $@

clean:
	rm -rf .venv .tox build dist work
