"""Data elements of DICOM files, by the standard alone (PS3.5, PS3.10)."""
import struct


NUMBERS = dict(US="H", UL="I", SL="i", FD="d")


def numbers(value, kind):
    """One number, or a tuple of several."""
    found = struct.unpack(f"<{len(value) // struct.calcsize(NUMBERS[kind])}{NUMBERS[kind]}", value)
    return found[0] if len(found) == 1 else found


def elements(data):
    """{(group, element): (kind, value)} of little-endian bytes with explicit kinds; sequences are lists of such (PS3.5, 7.1)."""
    found, at = {}, 0
    while at < len(data):
        group, element, kind = struct.unpack_from("<HH2s", data, at)
        kind = kind.decode()
        if kind in ("OB", "OW", "SQ", "UN", "UT", "OF"):
            size, at = struct.unpack_from("<I", data, at + 8)[0], at + 12
        else:
            size, at = struct.unpack_from("<H", data, at + 6)[0], at + 8
        value = data[at:at + size]
        if kind == "SQ":
            items, place = [], 0
            while place < len(value):
                tag, length = struct.unpack_from("<II", value, place)
                assert tag == 0xE000FFFE and length != 0xFFFFFFFF, "an item of stated length"
                items.append(elements(value[place + 8:place + 8 + length]))
                place += 8 + length
            found[group, element] = kind, items
        else:
            found[group, element] = kind, numbers(value, kind) if kind in NUMBERS else value if kind in ("OB", "OW") else value.decode().rstrip(" \0")
        at += size
    return found


def read(path):
    data = path.read_bytes()
    assert data[:128] == bytes(128) and data[128:132] == b"DICM"
    length = struct.unpack_from("<I", data, 140)[0]
    return elements(data[132:144 + length]), elements(data[144 + length:])
