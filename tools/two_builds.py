"""What tools/compare-builds and tools/compare-images share: recordings made by a program, and servers that are waited for."""
import contextlib
import pathlib
import re
import subprocess
import sys
import tempfile


class Failed(Exception):
    """A program did not do what it was asked to."""


def check_programs(tool, *programs):
    for program in programs:
        if not pathlib.Path(program).is_file():
            sys.exit(f"{tool}: {program}: found no file; expected a program `echoform`")


def run(*command, timeout=600):
    """What the program printed. Raises Failed if it does not end with 0 within the time."""
    words = [str(word) for word in command]
    try:
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=timeout)
    except subprocess.TimeoutExpired as late:
        raise Failed(f"{' '.join(words)}: not done after {timeout} s") from late
    if done.returncode != 0:
        last = (done.stderr.strip() or done.stdout.strip() or "no word").splitlines()[-1]
        raise Failed(f"{' '.join(words)}: exit code {done.returncode}: {last}")
    return done.stdout


@contextlib.contextmanager
def started(*command):
    """A program with its output as lines, and what it says of errors in a file, `errors`; it is ended behind the block."""
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=errors, text=True)
        process.errors = errors
        try:
            yield process
        finally:
            process.terminate()
            process.communicate(timeout=60)


def last_word(process):
    """The last line of a program that has ended."""
    process.wait(timeout=60)
    process.errors.seek(0)
    return (process.errors.read().strip() or f"exit code {process.returncode}").splitlines()[-1]


def ports_of(process, *doors):
    """{door: "ADDRESS:PORT"} of a server, as it says them."""
    found = {}
    for line in process.stdout:
        if match := re.match(r"(.+?)\s+tcp\W+(\S+:\d+)\s*$", line):
            found[match[1]] = match[2]
        if all(door in found for door in doors):
            return found
    raise Failed(f"{' '.join(process.args)}: ended before it said where it listens: {last_word(process)}")


def make_recording(program, config, path, frames=1):
    """`frames` of the simulated source that the TOML text `config` describes, in the MFMC file `path`."""
    with tempfile.TemporaryDirectory() as folder:
        settings = pathlib.Path(folder) / "source.toml"
        settings.write_text(config, encoding="utf-8")
        with started(program, "--log-level", "warning", "record", "--listen", "127.0.0.1:0", "--config", settings, "--output", path,
                     "--frames", frames) as recorder:
            first = re.search(r":(\d+)\s*$", recorder.stdout.readline())
            if first is None:
                raise Failed(f"{program} record: said nowhere where it listens: {last_word(recorder)}")
            run(program, "--log-level", "warning", "simulate", "--config", settings, "--connect", f"127.0.0.1:{first[1]}", "--frames", frames,
                "--rate", "max")
            recorder.stdout.read()  # until it has closed the file and ends
