"""The acquisition protocol byte by byte, as proto/WIRE.md describes it. Python's standard library alone.

Whoever writes a sender in another language needs what is here and nothing more: framing, checksum, the few kinds of Protocol
Buffers fields, the headers. `sender.py` shows the conversation.
"""
from __future__ import annotations

import struct

HELLO, ACCEPT, REJECT, SHOT, END = 1, 2, 3, 4, 5
MATRIX = {"full": 1, "half": 2, "half_summed": 3}
EVENTS = 4  # the matrix of a Hello that lists its transmit events
POSITIONS = 5  # likewise, each at one of its positions
ENCODING = {"int16": 1, "packed12": 2, "float32": 3}

PREFIX_BYTES = 24
HELLO_BYTES = 1 << 20  # the longest header of a Hello
ANSWER_BYTES = 4096  # the longest header of a server's message
_PREFIX = struct.Struct("<4sHHIQI")


# ---- framing

def _crc32c_table() -> list[int]:
    table = []
    for value in range(256):
        for _ in range(8):
            value = (value >> 1) ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    return table


_CRC_TABLE = _crc32c_table()


def crc32c(data: bytes) -> int:
    """CRC-32C (Castagnoli): 0xE3069283 for b"123456789"."""
    crc = 0xFFFFFFFF
    table = _CRC_TABLE
    for byte in data:
        crc = (crc >> 8) ^ table[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def message(kind: int, header: bytes = b"", payload_bytes: int = 0) -> bytes:
    """Prefix and header; the payload follows them on the wire."""
    prefix = struct.pack("<4sHHIQ", b"EFRM", 1, kind, len(header), payload_bytes)
    return prefix + struct.pack("<I", crc32c(prefix + header)) + header


def parse_answer_prefix(prefix: bytes) -> tuple[int, int]:
    """Type and header length of a server's message. ValueError if its 24 bytes are not one."""
    magic, version, kind, header_bytes, payload_bytes, _ = _PREFIX.unpack(prefix)
    if magic != b"EFRM" or version != 1 or kind not in (ACCEPT, REJECT) or header_bytes > ANSWER_BYTES or payload_bytes != 0:
        raise ValueError("this is not an Echoform server")
    return kind, header_bytes


def check_answer(prefix: bytes, header: bytes) -> None:
    """ValueError unless the checksum of a server's message is right."""
    if crc32c(prefix[:20] + header) != _PREFIX.unpack(prefix)[5]:
        raise ValueError("the checksum of the server's answer is wrong")


# ---- Protocol Buffers fields

def varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field: int, value: int) -> bytes:
    return varint(field << 3 | 0) + varint(value) if value else b""


def double(field: int, value: float) -> bytes:
    return varint(field << 3 | 1) + struct.pack("<d", value) if value else b""


def text(field: int, value: str | bytes) -> bytes:
    data = value if isinstance(value, bytes) else value.encode()
    return varint(field << 3 | 2) + varint(len(data)) + data if data else b""


def doubles(field: int, values) -> bytes:
    return text(field, struct.pack(f"<{len(values)}d", *values))


def floats(field: int, values) -> bytes:
    return text(field, struct.pack(f"<{len(values)}f", *values))


def numbers(field: int, values) -> bytes:
    return text(field, b"".join(varint(value) for value in values))


def fields(data: bytes):
    """Yields (number, value) of each field of a header: int, or for strings and doubles a slice of `data`. ValueError if it is none."""
    at = 0

    def read_varint() -> int:
        nonlocal at
        value = 0
        for shift in range(0, 70, 7):
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
        raise ValueError("a varint of more than ten bytes")

    try:
        while at < len(data):
            tag = read_varint()
            if tag & 7 == 0:
                yield tag >> 3, read_varint()
                continue
            size = {1: 8, 5: 4}.get(tag & 7)
            if size is None:
                if tag & 7 != 2:
                    raise ValueError(f"a field of wire type {tag & 7}")
                size = read_varint()
            if size > len(data) - at:
                raise ValueError("a field that ends behind the message")
            yield tag >> 3, data[at:at + size]
            at += size
    except IndexError:
        raise ValueError("a varint that ends behind the message") from None


# ---- headers

def hello_header(acquisition, *, session: int, connection_index: int = 0, connection_count: int = 1, sender: str = "",
                 token: str = "") -> bytes:
    """A Hello of an `echoform.Acquisition`. ValueError for one that is longer than a server reads, with how many events fit."""
    probe = acquisition.probe
    normals = zip(*probe.normals) if probe.normals is not None else ((), (), ())
    # Each that is what it is without being stated is left out.
    normal_x, normal_y, normal_z = (() if all(value == usual for value in axis) else tuple(axis)
                                    for axis, usual in zip(normals, (0.0, 0.0, 1.0)))
    described = (doubles(1, probe.x) + doubles(2, () if probe.y is None else probe.y) + doubles(3, () if probe.z is None else probe.z)
                 + doubles(4, normal_x) + doubles(5, normal_y) + doubles(6, normal_z) + double(7, probe.element_width)
                 + double(8, probe.element_length) + double(9, probe.centre_frequency) + double(10, probe.bandwidth)
                 + numbers(11, probe.dead_elements))
    events = [nested(14, event) for event in acquisition.encoded_events]
    positions = b"".join(nested(16, pose.encode()) for pose in acquisition.positions)
    matrix = POSITIONS if positions else EVENTS if events else MATRIX[acquisition.matrix]
    rest = (number(1, session) + number(2, connection_index) + number(3, connection_count) + text(4, sender) + text(5, token)
            + text(6, described) + number(7, matrix) + number(8, ENCODING[acquisition.encoding])
            + number(9, acquisition.samples) + double(10, acquisition.sample_rate) + double(11, acquisition.start_time)
            + double(12, acquisition.time_offset) + double(13, acquisition.sample_scale))
    behind = positions + double(17, acquisition.pulse_repetition)
    of_events = sum(map(len, events))
    others = len(rest) + len(behind)
    if others > HELLO_BYTES:
        raise ValueError(f"Hello: found {others} bytes without events; expected at most {HELLO_BYTES}: a shorter name or token")
    if others + of_events > HELLO_BYTES:
        raise ValueError(f"events: found {of_events} bytes of {others + of_events} in all; expected at most {HELLO_BYTES} in all: "
                         f"{(HELLO_BYTES - others) * len(events) // of_events} events like these, or fewer receivers in each")
    return rest + b"".join(events) + behind


# ---- transmit events: the bytes of a TransmitEvent. Receivers: those that record it, in the order of their A-scans; none: all

def nested(field: int, message: bytes) -> bytes:
    """A message within a message: written even if it is empty."""
    return varint(field << 3 | 2) + varint(len(message)) + message


def element_event(element: int, receivers=()) -> bytes:
    """One element fires alone. Element 0 is stated too, since it is one of several forms."""
    return varint(1 << 3 | 0) + varint(element) + numbers(15, receivers)


def plane_wave_event(slowness_x: float, slowness_y: float = 0.0, delay: float | None = None, elements=(), receivers=(),
                     slowness_z: float = 0.0) -> bytes:
    """Element e fires at delay + slowness_x x_e + slowness_y y_e + slowness_z z_e; with delay None so that the earliest fires at 0."""
    wave = double(1, slowness_x) + double(2, slowness_y) + _optional_double(3, delay) + numbers(4, elements) + double(5, slowness_z)
    return nested(2, wave) + numbers(15, receivers)


def point_wave_event(x: float, y: float, z: float, velocity: float, delay: float | None = None, elements=(), receivers=()) -> bytes:
    """From a virtual source, z <= 0, or towards a focus, z > 0."""
    wave = double(1, x) + double(2, y) + double(3, z) + double(4, velocity) + _optional_double(5, delay) + numbers(6, elements)
    return nested(3, wave) + numbers(15, receivers)


def law_event(elements, delays=(), weights=(), receivers=()) -> bytes:
    """Each of `elements` fires at its delay with its weight."""
    return nested(4, numbers(1, elements) + floats(2, delays) + floats(3, weights)) + numbers(15, receivers)


def code_event(signs, receivers=()) -> bytes:
    """Element i fires as it is where signs[i] is 1, inverted where it is -1, and is silent where it is 0."""
    return nested(5, _bits(1, [sign > 0 for sign in signs]) + _bits(2, [sign < 0 for sign in signs])) + numbers(15, receivers)


def passive_event(wavelength: float = 0.0, pulse_energy: float = 0.0, receivers=()) -> bytes:
    """Nobody fires: light of a wavelength in metres and an energy in joules makes the sound; 0: not known. Written even if both are."""
    return nested(6, double(1, wavelength) + double(2, pulse_energy)) + numbers(15, receivers)


def at_position(event: bytes, position: int) -> bytes:
    """An event as it is fired at one of the positions of the probe."""
    return event + number(14, position)


def pose(origin, x_direction=(1.0, 0.0, 0.0), y_direction=(0.0, 1.0, 0.0)) -> bytes:
    """Where the probe's origin lies in the part, in metres, and which way its x and y axes point there."""
    message = b"".join(double(field, value) for field, value in zip((1, 2, 3), origin, strict=True))
    if tuple(x_direction) != (1.0, 0.0, 0.0):
        message += doubles(4, x_direction)
    return message + (doubles(5, y_direction) if tuple(y_direction) != (0.0, 1.0, 0.0) else b"")


def _optional_double(field: int, value: float | None) -> bytes:
    """One whose 0 says something else than leaving it out."""
    return b"" if value is None else varint(field << 3 | 1) + struct.pack("<d", value)


def _bits(field: int, flags: list[bool]) -> bytes:
    bits = sum(1 << i for i, flag in enumerate(flags) if flag)
    return text(field, bits.to_bytes((len(flags) + 7) // 8, "little")) if bits else b""


def shot_header(sequence: int, transmit: int, acquisition_time: int, session: int = 0, position: int | None = None) -> bytes:
    """`acquisition_time` in nanoseconds since 1970-01-01 UTC; 0 if it is not known. `session` is the Hello's, over ZeroMQ. `position`
    is the encoder's count, of either sign; None where there is no encoder."""
    header = number(1, sequence) + number(2, transmit) + number(3, acquisition_time) + number(4, session)
    return header if position is None else header + varint(5 << 3 | 0) + signed(position)  # a 0 is a count


def signed(value: int) -> bytes:
    """A number of either sign as sint64 has it: 0, -1, 1, -2 ... are 0, 1, 2, 3 ..."""
    return varint(value << 1 if value >= 0 else (-value << 1) - 1)


def end_header(session: int = 0) -> bytes:
    """Over ZeroMQ; over TCP it is empty."""
    return number(1, session)


def shown(text: str) -> str:
    """What a peer has said, for a terminal: without control characters and marks that turn the direction of writing."""
    return "".join(c if c.isprintable() else "?" for c in text)


def parse_accept(header: bytes) -> tuple[int, str]:
    """(bytes of one frame by the server's reckoning, name of the server)."""
    frame_bytes, server = 0, ""
    for field, value in fields(header):
        if field == 1 and isinstance(value, int):
            frame_bytes = value
        elif field == 2 and isinstance(value, bytes):
            server = shown(value.decode(errors="replace"))
    return frame_bytes, server


def parse_reject(header: bytes) -> tuple[str, bool]:
    """The reason, on one line, and whether the same Hello may be accepted in a little while."""
    reason, retry = "no reason was given", False
    for field, value in fields(header):
        if field == 1 and isinstance(value, bytes):
            reason = shown(value.decode(errors="replace"))
        if field == 2 and isinstance(value, int):
            retry = value != 0
    return reason, retry
