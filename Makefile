# Everything from a fresh Debian 12: each target installs what is missing, configures, builds and runs.
#   make build    the program, at build/release/bin/echoform
#   make test     builds everything with warnings as errors and runs all tests
#   make demo     simulated source -> TCP -> imaging -> viewers; DEMO_SECONDS=10 makes it end by itself and write demo.png
#   make bench    the benchmark suite
#   make bundle   a relocatable tarball for other machines, in build/bundle: docs/install.md
#   make format   clang-format over all sources
#   make clean    removes build/

JOBS ?= $(shell nproc)
BUILD := build/release
PROGRAM := $(BUILD)/bin/echoform
DEMO_SECONDS ?=

.PHONY: build test demo bench bundle format clean packages test-packages
.DEFAULT_GOAL := build

packages:
	@tools/install-packages

test-packages:
	@tools/install-packages --tests

build: packages
	cmake --preset release -DECHOFORM_TESTS=OFF
	cmake --build $(BUILD) --parallel $(JOBS) --target echoform

test: test-packages
	cmake --preset ci -DECHOFORM_TESTS=ON
	cmake --build $(BUILD) --parallel $(JOBS)
	tools/run-tests $(BUILD)

demo: build
ifeq ($(strip $(DEMO_SECONDS)),)
	$(PROGRAM) demo
else
	$(PROGRAM) demo --seconds $(DEMO_SECONDS) --snapshot demo.png
endif

bench: packages
	cmake --preset release -DECHOFORM_TESTS=OFF
	cmake --build $(BUILD) --parallel $(JOBS)
	$(PROGRAM) bench all

bundle: packages
	tools/make-bundle --jobs $(JOBS)

format:
	@command -v clang-format >/dev/null 2>&1 || { echo "make format needs clang-format (Debian package clang-format)" >&2; exit 1; }
	git ls-files '*.hpp' '*.cpp' '*.cu' '*.cuh' | xargs clang-format -i

clean:
	rm -rf build
