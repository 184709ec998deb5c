#!/usr/bin/env python3
"""Sends simulated Full Matrix Capture frames to an Echoform server, by proto/WIRE.md alone.

Needs numpy and nothing else: a guide for writing a sender for an instrument in any language.

    python_sender.py --connect 127.0.0.1:17171 --elements 32 --samples 1024 --frames 100 --rate 25
"""

import argparse
import secrets
import socket
import struct
import sys
import time

import numpy as np

HELLO, ACCEPT, REJECT, SHOT, END = 1, 2, 3, 4, 5
MATRIX = {"full": 1, "half": 2, "half_summed": 3}
ENCODING = {"int16": 1, "packed12": 2, "float32": 3}


# ---- framing

def crc32c_table():
    table = []
    for value in range(256):
        for _ in range(8):
            value = (value >> 1) ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    return table


CRC_TABLE = crc32c_table()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = (crc >> 8) ^ CRC_TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def message(kind, header=b"", payload_bytes=0):
    """Prefix and header; the payload follows them on the wire."""
    prefix = struct.pack("<4sHHIQ", b"EFRM", 1, kind, len(header), payload_bytes)
    return prefix + struct.pack("<I", crc32c(prefix + header)) + header


# ---- the four kinds of Protocol Buffers fields that the headers use

def varint(value):
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field, value):
    return varint(field << 3 | 0) + varint(value)


def double(field, value):
    return varint(field << 3 | 1) + struct.pack("<d", value)


def string(field, value):
    data = value if isinstance(value, bytes) else value.encode()
    return varint(field << 3 | 2) + varint(len(data)) + data


def doubles(field, values):
    return string(field, np.asarray(values, "<f8").tobytes())


def hello_header(options, connection, session, x):
    probe = doubles(1, x) + double(7, options.pitch * 0.9) + double(9, options.frequency) + double(10, 0.6 * options.frequency)
    return (number(1, session) + number(2, connection) + number(3, options.connections) + string(4, "python_sender 1.0")
            + string(5, options.token) + string(6, probe) + number(7, MATRIX[options.matrix])
            + number(8, ENCODING[options.encoding]) + number(9, options.samples) + double(10, options.sample_rate)
            + double(11, 0.0) + double(12, 0.0) + double(13, sample_scale(options)))


def sample_scale(options):
    """Sums of two samples are sent halved where they are integers, so that 12 bits hold them."""
    return 2.0 if options.matrix == "half_summed" and options.encoding != "float32" else 1.0


def shot_header(sequence, transmit, nanoseconds):
    return number(1, sequence) + number(2, transmit) + number(3, nanoseconds)


# ---- answers

def receive(connection, size):
    data = b""
    while len(data) < size:
        part = connection.recv(size - len(data))
        if not part:
            raise ConnectionError("the server closed the connection")
        data += part
    return data


def receive_answer(connection):
    """The kind of the server's next message. Ends the program, with the reason, if that is a Reject."""
    magic, version, kind, header_bytes, _, _ = struct.unpack("<4sHHIQI", receive(connection, 24))
    if magic != b"EFRM" or version != 1 or header_bytes > 4096:
        raise ConnectionError("this is not an Echoform server")
    header = receive(connection, header_bytes)
    if kind == REJECT:
        # One string, field 1: tag, length as a varint, text.
        text = header[2:] if len(header) > 1 and header[1] < 0x80 else header[3:]
        raise SystemExit(f"rejected: {text.decode(errors='replace')}")
    return kind


def await_accept(connection):
    kind = receive_answer(connection)
    if kind != ACCEPT:
        raise ConnectionError(f"found a message of type {kind}; expected Accept")


def await_close(connection):
    """Once the server has read all it closes; a Reject before that says why it did not take all."""
    try:
        receive_answer(connection)
    except ConnectionError:
        pass
    connection.close()


def send_all(connection, data):
    try:
        connection.sendall(data)
    except OSError:
        connection.settimeout(1.0)
        try:
            receive_answer(connection)  # the server may have said why
        except OSError:
            pass
        raise


# ---- samples

def simulate(options, x, shift):
    """Point scatterers in steel, one of them moving: [transmit, receive, sample], about 12 bit."""
    velocity = 5900.0
    scatterers = [(0.0, 0.010), (-0.005, 0.015), (0.004 + shift, 0.020)]
    t = np.arange(options.samples) / options.sample_rate
    frame = np.zeros((options.elements, options.elements, options.samples))
    sigma = 0.4 / options.frequency
    for scatterer_x, scatterer_z in scatterers:
        path = np.hypot(x - scatterer_x, scatterer_z)
        delay = (path[:, None, None] + path[None, :, None]) / velocity
        u = t[None, None, :] - delay
        frame += 600.0 * np.exp(-0.5 * (u / sigma) ** 2) * np.cos(2 * np.pi * options.frequency * u)
    rng = np.random.default_rng([options.seed, int(round(shift * 1e9)) & 0xFFFFFFFF])
    return np.clip(frame + rng.normal(0.0, 10.0, frame.shape), -2048, 2047)


def pack12(samples):
    """Two's complement, low bits first, two samples in three bytes, each A-scan starting on a byte."""
    values = samples.astype(np.int32) & 0xFFF
    count = values.shape[-1]
    if count % 2:
        values = np.concatenate([values, np.zeros_like(values[..., :1])], axis=-1)
    first, second = values[..., 0::2], values[..., 1::2]
    packed = np.stack([first & 0xFF, first >> 8 | (second & 0xF) << 4, second >> 4], axis=-1).astype(np.uint8)
    return packed.reshape(*values.shape[:-1], -1)[..., : (3 * count + 1) // 2]


def encode(samples, encoding):
    if encoding == "packed12":
        return pack12(np.rint(samples)).tobytes()
    return (np.rint(samples).astype("<i2") if encoding == "int16" else samples.astype("<f4")).tobytes()


def shots_of(options, frame):
    """The payload of each transmit: all receivers, or those from the transmitter on for half matrices."""
    if options.matrix == "full":
        return [encode(frame[i], options.encoding) for i in range(options.elements)]
    if options.matrix == "half_summed":
        summed = frame + frame.transpose(1, 0, 2)
        diagonal = np.arange(options.elements)
        summed[diagonal, diagonal] /= 2  # an element's own echo counts once
        frame = summed / sample_scale(options)
    return [encode(frame[i, i:], options.encoding) for i in range(options.elements)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--connect", default="127.0.0.1:17171", metavar="HOST:PORT")
    parser.add_argument("--token", default="")
    parser.add_argument("--elements", type=int, default=32)
    parser.add_argument("--samples", type=int, default=1024)
    parser.add_argument("--pitch", type=float, default=0.6e-3, help="metres")
    parser.add_argument("--frequency", type=float, default=5e6, help="hertz")
    parser.add_argument("--sample-rate", type=float, default=50e6, help="hertz")
    parser.add_argument("--matrix", choices=MATRIX, default="full")
    parser.add_argument("--encoding", choices=ENCODING, default="int16")
    parser.add_argument("--connections", type=int, default=1, choices=range(1, 9), metavar="K", help="1 to 8")
    parser.add_argument("--frames", type=int, default=100)
    parser.add_argument("--rate", type=float, default=25.0, help="frames per second; 0: as fast as the server takes them")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--save", metavar="FILE", help="also write the payloads of all frames, one after another")
    options = parser.parse_args()

    x = (np.arange(options.elements) - 0.5 * (options.elements - 1)) * options.pitch
    host, _, port = options.connect.rpartition(":")
    if not host or not port.isdigit():
        parser.error(f'--connect: found "{options.connect}"; expected HOST:PORT')
    session = secrets.randbits(64)
    connections = []
    for index in range(options.connections):
        connection = socket.create_connection((host, int(port)))
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        send_all(connection, message(HELLO, hello_header(options, index, session, x)))
        connections.append(connection)
    for connection in connections:
        await_accept(connection)

    # Simulated ahead, and sent again and again.
    frames = [shots_of(options, simulate(options, x, 0.0005 * step)) for step in range(min(options.frames, 8))]
    saved = open(options.save, "wb") if options.save else None
    start = time.monotonic()
    for sequence in range(options.frames):
        if options.rate > 0:
            time.sleep(max(0.0, start + sequence / options.rate - time.monotonic()))
        now = time.time_ns()
        shots = frames[sequence % len(frames)]
        for transmit, payload in enumerate(shots):
            connection = connections[transmit % len(connections)]
            send_all(connection, message(SHOT, shot_header(sequence, transmit, now), len(payload)))
            send_all(connection, payload)
        if saved:
            saved.write(b"".join(shots))
    for connection in connections:
        send_all(connection, message(END))
        connection.shutdown(socket.SHUT_WR)
    for connection in connections:
        await_close(connection)
    if saved:
        saved.close()
    seconds = time.monotonic() - start
    print(f"sent {options.frames} frames in {seconds:.2f} s ({options.frames / max(seconds, 1e-9):.1f} frames/s)")


if __name__ == "__main__":
    try:
        main()
    except (ConnectionError, OSError) as error:
        sys.exit(f"{error}")
