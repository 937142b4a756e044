# The two commands of a fresh machine, and shorthands. Developers use tools/dev.

BUILD := build/release
PYTHON := $(CURDIR)/.venv/bin/python
JOBS ?= $(shell nproc 2>/dev/null || echo 2)

.DEFAULT_GOAL := help
.PHONY: help demo test build wheel deb lint clean

help: ## Show this list
	@sed -n 's/^\([a-z]*\):.*## /make \1\t/p' $(MAKEFILE_LIST) | expand -t 16

demo: ## Install what is missing, build, then compile and run the examples
	@tools/bootstrap build
	@$(MAKE) --no-print-directory build CMAKE_FLAGS=-DSDX_TESTS=OFF
	@tools/demo

test: ## Install what is missing, build, then run all tests
	@tools/bootstrap test
	@$(MAKE) --no-print-directory build CMAKE_FLAGS=-DSDX_TESTS=ON
	@tools/dev models
	ctest --test-dir $(BUILD) --output-on-failure -j $(JOBS)
	SDX_STRICT=1 SDX_BUILD=$(BUILD) PYTHONPATH=$(CURDIR)/$(BUILD)/python \
		$(PYTHON) -m pytest -q -n $(JOBS) --dist worksteal --durations=20 tests/python
	$(PYTHON) -m pytest -q tests/packaging

build: ## Build the release
	@cmake --preset release -DPython_EXECUTABLE=$(PYTHON) $(CMAKE_FLAGS) --log-level=WARNING
	@cmake --build $(BUILD) -j $(JOBS)

wheel: ## Build the wheel into dist/, for PYTHON=..., which needs pip
	tools/wheel --python $(PYTHON) --out dist

deb: build ## Build the Debian packages into dist/
	cpack --config $(BUILD)/CPackConfig.cmake -B dist
	@rm -rf dist/_CPack_Packages

lint: ## Run the linters (tools/bootstrap lint installs them)
	tools/dev fmt --check
	tools/dev lint
	tools/dev layers --headers
	tools/dev tidy

clean: ## Remove what was built
	rm -rf build dist
