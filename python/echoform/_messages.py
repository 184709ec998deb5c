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
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import DecodeError

from . import wire
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


# The largest number that a field holds. Of larger ones Protocol Buffers keeps the low bits, and takes them for others.
_LARGEST = {FieldDescriptor.TYPE_UINT32: 2**32 - 1, FieldDescriptor.TYPE_ENUM: 2**31 - 1, FieldDescriptor.TYPE_UINT64: 2**64 - 1,
            FieldDescriptor.TYPE_SINT64: 2**64 - 1}


def _wide_number(descriptor, data: memoryview) -> str | None:
    """The first number on the wire that does not fit its field, in words. ValueError if these are no fields."""
    for number, value in wire.fields(data):
        field = descriptor.fields_by_number.get(number)
        if field is None:
            continue
        if isinstance(value, int):
            # A negative value of an enumeration comes as 64 bits, of which the upper ones are set.
            negative = field.type == FieldDescriptor.TYPE_ENUM and 2**64 - 2**31 <= value < 2**64
            if value > _LARGEST.get(field.type, value) and not negative:
                return f"{field.name}: found {value}; expected at most {_LARGEST[field.type]}"
        elif field.type == FieldDescriptor.TYPE_MESSAGE and (found := _wide_number(field.message_type, value)):
            return f"{field.name}.{found}"
    return None


def parse(kind, data: bytes):
    """A message of the class `kind`. Raises MalformedMessage."""
    message = kind()
    wide = None
    try:
        whole = message.MergeFromString(data) == len(data)
        # What is written again as it came has lost nothing; only the rest is gone through, which takes ten times as long.
        if whole and message.SerializeToString() != data:
            wide = _wide_number(kind.DESCRIPTOR, memoryview(data))
    except (DecodeError, UnicodeDecodeError, ValueError):
        whole = False
    if not whole or wide:
        name = f"{'an' if kind.DESCRIPTOR.name[0] in 'AEIOU' else 'a'} {kind.DESCRIPTOR.name} message"
        raise MalformedMessage(f"not {name}" + (f" ({wide})" if wide else ""))
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
