"""A server of one's own, for notebooks and tests."""
from __future__ import annotations

import collections
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time

from .errors import EchoformError, TimedOut

# Free ports, unless the configuration names some.
_DOORS = {"input": ("listen",), "server": ("images", "telemetry", "web")}
_LABELS = {"frames in": "frames", "images out": "images", "telemetry": "telemetry", "viewer": "web", "control": "control"}


def find_program() -> str:
    """`echoform`: what ECHOFORM_PROGRAM names, else the newest in a build folder of this source tree or in the bundle that this
    package lies in, else on the PATH."""
    named = os.environ.get("ECHOFORM_PROGRAM")
    if named:
        return named
    folders = pathlib.Path(__file__).resolve().parents  # [2] is the tree, or BUNDLE/share/echoform
    built = [*folders[2].glob("build/*/bin/echoform"), *(folder / "bin/echoform" for folder in folders[4:5])]
    built = [program for program in built if program.is_file()]
    if built:
        return str(max(built, key=lambda program: program.stat().st_mtime))
    found = shutil.which("echoform")
    if not found:
        raise EchoformError("echoform: found no such program; expected it on the PATH, or ECHOFORM_PROGRAM to name it")
    return found


def toml_of(configuration: dict[str, dict]) -> str:
    """Sections of keys as TOML. Text, numbers, true and false, and lists of them."""
    lines = []
    for section, keys in configuration.items():
        lines.append(f"[{section}]")
        # What JSON writes of these is TOML too.
        lines += [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in keys.items()]
    return "\n".join(lines) + "\n"


class Server:
    """Runs `echoform serve` for as long as the with-block lasts, on free ports of this machine.

        with Server({"material": {"longitudinal_velocity": 6320.0}}) as server:
            sender = FrameSender(acquisition, server.frames)

    configuration   sections and keys of docs/configuration.md; doors that are not named get free ports
    program         the program's path; see find_program()
    frames, images, telemetry, web   where the doors are
    Raises EchoformError with the program's own line if it does not start.
    """

    def __init__(self, configuration: dict[str, dict] | None = None, *, program: str | None = None, arguments: tuple[str, ...] = (),
                 timeout: float = 60.0):
        complete = {section: dict(keys) for section, keys in (configuration or {}).items()}
        for section, doors in _DOORS.items():
            for door in doors:
                complete.setdefault(section, {}).setdefault(door, "127.0.0.1:0")
        self.addresses: dict[str, str] = {}
        self.output: list[str] = []
        self._errors: collections.deque[str] = collections.deque(maxlen=50)
        self._changed = threading.Condition()
        self._ended = False
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "notebook.toml")
            file.write_text(toml_of(complete))
            program = program or find_program()
            try:
                self._process = subprocess.Popen([program, *arguments, "serve", "--config", str(file)], stdout=subprocess.PIPE,
                                                 stderr=subprocess.PIPE, text=True, errors="replace")
            except OSError as error:
                raise EchoformError(f"{program}: cannot be run ({error.strerror})") from None
            self._readers = [threading.Thread(target=self._read_output, daemon=True), threading.Thread(target=self._read_errors, daemon=True)]
            for reader in self._readers:
                reader.start()
            try:
                for door in ("frames", "images", "telemetry", "web"):
                    setattr(self, door, self.address(door, timeout))
            except BaseException:
                self.kill()
                raise

    @property
    def pid(self) -> int:
        return self._process.pid

    def address(self, door: str, timeout: float = 10.0) -> str:
        """Where a door is: "frames", "images", "telemetry", "web", "control". Waits until the server says so."""
        deadline = time.monotonic() + timeout
        with self._changed:
            while door not in self.addresses:
                if self._ended:
                    self._readers[1].join(5.0)
                    raise EchoformError(next(iter(self._errors), f"{door}: the server ended without a line"))
                if not self._changed.wait(max(0.0, deadline - time.monotonic())) and time.monotonic() >= deadline:
                    raise TimedOut(f"{door}: the server did not say where it is within {timeout:g} s")
            return self.addresses[door]

    def stop(self, timeout: float = 60.0) -> list[str]:
        """Ends it in order, and returns its last lines: drops and closure."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
        try:
            code = self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            raise TimedOut(f"the server did not end within {timeout:g} s") from None
        self._close()
        if code not in (0, -signal.SIGTERM):
            raise EchoformError(f"the server ended with code {code}: {' '.join(list(self._errors)[-1:])}")
        return [line for line in self.output if not _address(line)]

    def kill(self) -> None:
        """Ends it at once, as a crash would."""
        self._process.kill()
        self._process.wait()
        self._close()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, kind, *_) -> None:
        if self._process.poll() is not None:
            self._close()
        elif kind is None:
            self.stop()
        else:
            self.kill()

    def _read_output(self) -> None:
        for line in self._process.stdout:
            found = _address(line.rstrip())
            with self._changed:
                self.output.append(line.rstrip())
                if found:
                    self.addresses[found[0]] = found[1]
                self._changed.notify_all()
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def _read_errors(self) -> None:
        for line in self._process.stderr:
            self._errors.append(line.rstrip())

    def _close(self) -> None:
        for reader in self._readers:
            reader.join()
        self._process.stdout.close()
        self._process.stderr.close()


def _address(line: str) -> tuple[str, str] | None:
    """(door, address) of a line in which the server says where one is."""
    found = re.match(r"(\S+(?: \S+)?)\s+(?:tcp )?((?:\w+://)?\S+:\d+/?)$", line)
    return (_LABELS.get(found[1], found[1]), found[2]) if found else None
