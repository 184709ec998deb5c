"""Makes wheels of this folder with Python and protoc alone, so that `pip install python/` needs no network (PEP 517, PEP 660).

The folder's package goes in as it is, and the descriptors of ../proto/*.proto as echoform/messages.desc.
"""
import base64
import hashlib
import pathlib
import subprocess
import tarfile
import tempfile
import tomllib
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
PROJECT = tomllib.loads((HERE / "pyproject.toml").read_text())["project"]
STEM = f"{PROJECT['name']}-{PROJECT['version']}"
TAG = "py3-none-any"


def _metadata():
    lines = ["Metadata-Version: 2.1", f"Name: {PROJECT['name']}", f"Version: {PROJECT['version']}", f"Summary: {PROJECT['description']}",
             f"License: {PROJECT['license']['text']}", f"Requires-Python: {PROJECT['requires-python']}"]
    lines += [f"Requires-Dist: {name}" for name in PROJECT["dependencies"]]
    for extra, names in PROJECT["optional-dependencies"].items():
        lines += [f"Provides-Extra: {extra}"] + [f'Requires-Dist: {name}; extra == "{extra}"' for name in names]
    return "\n".join(lines) + "\n"


def _wheel(folder, files):
    """Writes a wheel that holds files (bytes by name), and returns its name."""
    information = f"{STEM}.dist-info"
    files = {**files, f"{information}/METADATA": _metadata().encode(),
             f"{information}/WHEEL": f"Wheel-Version: 1.0\nGenerator: echoform\nRoot-Is-Purelib: true\nTag: {TAG}\n".encode()}
    record = "".join(f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}\n"
                     for name, data in files.items())
    files[f"{information}/RECORD"] = f"{record}{information}/RECORD,,\n".encode()
    name = f"{STEM}-{TAG}.whl"
    with zipfile.ZipFile(pathlib.Path(folder, name), "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files.items():
            # The same bytes give the same wheel.
            wheel.writestr(zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0)), data)
    return name


def _descriptors():
    protos = HERE.parent / "proto"
    sources = sorted(protos.glob("*.proto"))
    if not sources:  # unpacked from a source distribution
        return (HERE / "messages.desc").read_bytes()
    with tempfile.TemporaryDirectory() as folder:
        made = pathlib.Path(folder, "messages.desc")
        try:
            subprocess.run(["protoc", f"-I{protos}", f"--descriptor_set_out={made}", "--include_imports", *map(str, sources)], check=True)
        except FileNotFoundError:
            raise SystemExit("protoc: found no such program; expected it for the messages (Debian: protobuf-compiler)") from None
        return made.read_bytes()


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    package = {f"echoform/{file.name}": file.read_bytes() for file in sorted((HERE / "echoform").iterdir()) if file.suffix in (".py", ".typed")}
    return _wheel(wheel_directory, {**package, "echoform/py.typed": b"", "echoform/messages.desc": _descriptors()})


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    return _wheel(wheel_directory, {"echoform.pth": f"{HERE}\n".encode()})


def build_sdist(sdist_directory, config_settings=None):
    name = f"{STEM}.tar.gz"
    with tempfile.TemporaryDirectory() as folder, tarfile.open(pathlib.Path(sdist_directory, name), "w:gz") as archive:
        made = pathlib.Path(folder, "messages.desc")
        made.write_bytes(_descriptors())
        information = pathlib.Path(folder, "PKG-INFO")
        information.write_text(_metadata())
        for file in [HERE / "pyproject.toml", HERE / "build_backend.py", made, information,
                     *sorted(file for file in (HERE / "echoform").iterdir() if file.is_file())]:
            archive.add(file, f"{STEM}/{file.relative_to(HERE) if file.is_relative_to(HERE) else file.name}")
    return name
