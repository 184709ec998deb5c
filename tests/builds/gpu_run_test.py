"""GPU code that no GPU has run for long: tests/gpu_run.json says which commit passed on one last, and this by how many commits code is ahead.
Continuous integration has no GPU, so that nothing else would notice. `./run-tests --gpu-only` of a bundle writes the file."""
import json
import pathlib
import re
import subprocess
import sys

SOURCE = pathlib.Path(sys.argv[1])
MOST_COMMITS = 20  # that change GPU code since; then a run is due


def git(*arguments):
    return subprocess.run(["git", "-C", str(SOURCE), *arguments], capture_output=True, text=True)


def skip(reason):
    print(f"SKIPPED: {reason}")
    sys.exit(77)


def included(file, seen):
    """All headers of the tree that a file includes."""
    for name in re.findall(r'^#include "([^"]+)"', file.read_text(), re.MULTILINE):
        header = SOURCE / name
        if header not in seen and header.is_file():
            seen.add(header)
            included(header, seen)


def gpu_code():
    """Kernels and what they include (formulas that host and device share are there), and host code that calls CUDA."""
    listed = git("ls-files").stdout.splitlines()
    files = {SOURCE / name for name in listed if not name.startswith("tests/") and re.search(r"\.cuh?$|_cuda\.[ch]pp$", name)}
    for file in [file for file in files if file.suffix in (".cu", ".cuh")]:
        included(file, files)
    return sorted(str(file.relative_to(SOURCE)) for file in files)


run = json.loads((SOURCE / "tests/gpu_run.json").read_text())
assert run["failed"] == 0 and run["passed"] > 0, run
if not (SOURCE / ".git").exists():
    skip("no history here")
commit = re.sub(r"-dirty$", "", run["commit"])
if git("cat-file", "-e", f"{commit}^{{commit}}").returncode != 0:
    skip(f"commit {commit} is not in the history here")
files = gpu_code()
assert any(name.endswith("_math.hpp") for name in files), "formulas that kernels share with the host"
ahead = git("log", "--oneline", f"{commit}..HEAD", "--", *files).stdout.splitlines()
print(f"{len(files)} files of GPU code; {run['passed']} tests passed on {run['device']}, {run['date']}, at {commit}; {len(ahead)} commits since change them")
print("\n".join(ahead))
if len(ahead) > MOST_COMMITS:
    sys.exit(f"found {len(ahead)} commits; expected at most {MOST_COMMITS}: run ./run-tests --gpu-only of a bundle on a GPU (docs/install.md)")
