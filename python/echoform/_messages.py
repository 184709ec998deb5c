"""The Protocol Buffers messages of proto/*.proto, as classes: `messages.Image`, `messages.Telemetry` ...

They are made at run time from a descriptor file, which any version of the protobuf package reads (modules that protoc generates
suit only some). It is echoform/messages.desc where the package was installed, messages.desc beside the package in a bundle of
programs, and in a source tree made by protoc of the tree's proto/*.proto and kept under the checksum of those.
"""
from __future__ import annotations

import hashlib
import os
import pathlib
import subprocess
import tempfile
import warnings

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError

from .errors import EchoformError, MalformedMessage

_PACKAGE = pathlib.Path(__file__).resolve().parent


def compile_protos(folder: pathlib.Path, target: pathlib.Path) -> None:
    """Writes descriptors of folder/*.proto to `target`, aside and renamed. EchoformError if protoc is missing or refuses."""
    sources = sorted(folder.glob("*.proto"))
    with tempfile.TemporaryDirectory(dir=target.parent) as aside:
        made = pathlib.Path(aside, "messages.desc")
        try:
            subprocess.run(["protoc", f"-I{folder}", f"--descriptor_set_out={made}", "--include_imports", *map(str, sources)],
                           check=True, capture_output=True, text=True)
        except FileNotFoundError:
            raise EchoformError(f"{folder}: protoc is needed to read the messages (Debian: protobuf-compiler)") from None
        except subprocess.CalledProcessError as error:
            raise EchoformError(f"{folder}: protoc: {error.stderr.strip()}") from None
        os.replace(made, target)


def _descriptors() -> descriptor_pb2.FileDescriptorSet:
    def read(data: bytes) -> descriptor_pb2.FileDescriptorSet:
        found = descriptor_pb2.FileDescriptorSet.FromString(data)
        if not found.file:
            raise DecodeError("no descriptors")
        return found

    for ready in (_PACKAGE / "messages.desc", _PACKAGE.parent / "messages.desc"):
        if ready.exists():
            return read(ready.read_bytes())
    folder = _PACKAGE.parents[1] / "proto"
    sources = sorted(folder.glob("*.proto"))
    if not sources:
        raise EchoformError(f"{_PACKAGE}: found neither messages.desc nor {folder}; expected an installed package or the source tree")
    checksum = hashlib.sha256(b"\0".join(source.name.encode() + b"\0" + source.read_bytes() for source in sources)).hexdigest()[:24]
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "echoform"
    kept = cache / f"messages-{checksum}.desc"
    try:
        try:
            return read(kept.read_bytes())
        except (FileNotFoundError, DecodeError):
            cache.mkdir(parents=True, exist_ok=True)
            compile_protos(folder, kept)
            return read(kept.read_bytes())
    except OSError:  # no place to keep it
        with tempfile.TemporaryDirectory() as once:
            compile_protos(folder, pathlib.Path(once, "messages.desc"))
            return read(pathlib.Path(once, "messages.desc").read_bytes())


# protobuf 3.21 says so of some malformed messages instead of raising; parse() raises.
warnings.filterwarnings("ignore", "Unexpected end-group tag", RuntimeWarning)


def parse(kind, data: bytes):
    """A message of the class `kind`. Raises MalformedMessage."""
    message = kind()
    try:
        whole = message.MergeFromString(data) == len(data)
    except (DecodeError, UnicodeDecodeError):
        whole = False
    if not whole:
        raise MalformedMessage(f"not {'an' if kind.DESCRIPTOR.name[0] in 'AEIOU' else 'a'} {kind.DESCRIPTOR.name} message")
    return message


class _Messages:
    """Classes of messages, and numbers of enumerations, by name."""

    def __init__(self):
        # A pool of its own: a program may have generated modules of these messages besides.
        self._pool = descriptor_pool.DescriptorPool()
        for file in _descriptors().file:
            self._pool.AddSerializedFile(file.SerializeToString())

    def __getattr__(self, name: str):
        try:
            descriptor = self._pool.FindMessageTypeByName(f"echoform.wire.{name}")
        except KeyError:
            raise AttributeError(f"the messages have no {name!r}") from None
        if hasattr(message_factory, "GetMessageClass"):
            made = message_factory.GetMessageClass(descriptor)
        else:
            made = message_factory.MessageFactory(self._pool).GetPrototype(descriptor)
        setattr(self, name, made)
        return made

    def enumeration(self, name: str) -> dict[str, int]:
        """Numbers by name."""
        return {value.name: value.number for value in self._pool.FindEnumTypeByName(f"echoform.wire.{name}").values}


messages = _Messages()
