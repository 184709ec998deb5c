# Everything from a fresh Debian 12: each target installs what is missing, configures, builds and runs.
#   make build    the program, at build/release/bin/echoform
#   make test     builds everything with warnings as errors and runs all tests
#   make test-asan, make test-tsan   the same tests, without CUDA, under the address and undefined-behaviour, or thread, sanitizer
#   make fuzz     every fuzzer for SECONDS=60 (installs clang)
#   make demo     simulated source -> TCP -> imaging -> viewers; DEMO_SECONDS=10 makes it end by itself and write demo.png
#   make bench    the benchmark suite
#   make bundle   a relocatable tarball for other machines, in build/bundle: docs/install.md
#   make format   clang-format over all sources
#   make clean    removes build/

JOBS ?= $(shell nproc)
BUILD := build/release
PROGRAM := $(BUILD)/bin/echoform
DEMO_SECONDS ?=
SECONDS ?= 60

.PHONY: build test test-asan test-tsan fuzz demo bench bundle format clean packages test-packages fuzz-packages
.DEFAULT_GOAL := build

packages:
	@tools/install-packages

test-packages:
	@tools/install-packages --tests

fuzz-packages:
	@tools/install-packages --fuzz

build: packages
	cmake --preset release -DECHOFORM_TESTS=OFF
	cmake --build $(BUILD) --parallel $(JOBS) --target echoform

test: test-packages
	cmake --preset ci -DECHOFORM_TESTS=ON
	cmake --build $(BUILD) --parallel $(JOBS)
	tools/run-tests $(BUILD)

# Sanitizers do not know CUDA. The build without either says which tests there are: none may be missing.
define sanitized_test
	cmake --preset cpu
	cmake --build build/cpu --parallel $(JOBS)
	cmake --preset $(1)
	cmake --build build/$(1) --parallel $(JOBS)
	tools/same-tests build/cpu build/$(1)
	tools/run-tests build/$(1)
endef

test-asan: test-packages
	$(call sanitized_test,asan-ubsan)

test-tsan: export TSAN_OPTIONS = suppressions=$(CURDIR)/tests/support/tsan.suppressions
test-tsan: test-packages
	$(call sanitized_test,tsan)

fuzz: fuzz-packages
	cmake --preset fuzz
	cmake --build build/fuzz --parallel $(JOBS) --target fuzzers
	tools/run-fuzzers build/fuzz $(SECONDS)

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
