# Everything from a fresh Debian 12: each target installs what is missing, configures, builds and runs.
#   make build    the program, at build/release/bin/echoform
#   make test     builds everything with warnings as errors and runs all tests
#   make test-asan   the same tests under the address and undefined-behaviour sanitizers;   make test-tsan   under the thread sanitizer
#   make check-asan   as test-asan: the tests that read what others write, and an eighth of the others, another one at each commit
#   make check-tsan   as test-tsan: the tests of modules in which threads meet
#   make coverage   which lines the unit tests run, by folder, and pages in build/coverage/pages (installs llvm)
#   make check-builds   the builds that are promised besides: the bundle, without precompiled headers, without CUDA
#   make fuzz     every fuzzer for SECONDS=60, FUZZ_JOBS at a time (installs clang)
#   make fuzz-bundle   the fuzzers as a tarball for other machines, in build/bundle
#   make demo     simulated source -> TCP -> imaging -> viewers; DEMO_SECONDS=10 makes it end by itself and write demo.png
#   make bench    the benchmark suite
#   make bundle   a relocatable tarball for other machines, in build/bundle: docs/install.md
#   make format   clang-format over all sources
#   make clean    removes build/

JOBS ?= $(shell nproc)
# Tests of the program wait for servers, time-outs and pages much of the time.
TEST_JOBS ?= $(shell expr $(JOBS) \* 2)
BUILD := build/release
PROGRAM := $(BUILD)/bin/echoform
DEMO_SECONDS ?=
SECONDS ?= 60
FUZZ_JOBS ?= $(JOBS)
# For sources by themselves.
CHECK_MINUTES ?= 4

.PHONY: build test test-build test-asan check-asan test-tsan check-tsan check-builds coverage fuzz fuzz-bundle demo bench bundle format clean packages test-packages fuzz-packages coverage-packages
.DEFAULT_GOAL := build
# Targets named together go one after the other.
.NOTPARALLEL:

packages:
	@tools/install-packages

test-packages:
	@tools/install-packages --tests

fuzz-packages:
	@tools/install-packages --fuzz

coverage-packages:
	@tools/install-packages --coverage

build: packages
	cmake --preset release -DECHOFORM_TESTS=OFF
	cmake --build $(BUILD) --parallel $(JOBS) --target echoform

test-build: test-packages
	cmake --preset release -DECHOFORM_TESTS=ON
	@begin=$$(date +%s); cmake --build $(BUILD) --parallel $(JOBS) && echo "compiled in $$((($$(date +%s) - begin) / 60)) min"

test: test-build
	tools/run-tests $(BUILD) --parallel $(TEST_JOBS)

# Sanitizers do not know CUDA; its tests are there by name and skip. The ordinary build says which there are: none may be missing.
SANITIZED := tools/sanitized-tests --ordinary $(BUILD) --jobs $(JOBS) --test-jobs $(TEST_JOBS)

test-asan: test-build
	$(SANITIZED) asan-ubsan

check-asan: test-build
	$(SANITIZED) --labelled untrusted --share 8 asan-ubsan

test-tsan check-tsan: export TSAN_OPTIONS = suppressions=$(CURDIR)/tests/support/tsan.suppressions
test-tsan: test-build
	$(SANITIZED) tsan

check-tsan: test-build
	$(SANITIZED) --labelled concurrent tsan

check-builds: test-packages
	tools/check-builds --sample --minutes $(CHECK_MINUTES) --jobs $(JOBS)

coverage: coverage-packages
	tools/coverage --jobs $(JOBS)

fuzz: fuzz-packages
	cmake --preset fuzz
	cmake --build build/fuzz --parallel $(JOBS) --target fuzzers
	tools/run-fuzzers --jobs $(FUZZ_JOBS) build/fuzz $(SECONDS)

fuzz-bundle: fuzz-packages
	tools/make-fuzz-bundle --jobs $(JOBS)

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
