"""Stands between a sender and a server, and knows afterwards what was sent: with sockets and numpy alone."""
import socket
import struct
import threading

import acquisition_pb2
import numpy


class Tap(threading.Thread):
    """Stands between a sender and the recorder, hands bytes on, and keeps what the sender said."""

    def __init__(self, port):
        super().__init__(daemon=True)
        self.target = port
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.stream = bytearray()

    def run(self):
        try:
            sender, _ = self.listener.accept()
        except OSError:
            return  # nobody came
        with sender, socket.create_connection(("127.0.0.1", self.target)) as recorder:
            back = threading.Thread(target=self.pump, args=(recorder, sender), daemon=True)
            back.start()
            self.pump(sender, recorder, self.stream)
            back.join()

    def close(self):
        try:
            self.listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.listener.close()
        self.join(timeout=60)

    @staticmethod
    def pump(source, sink, keep=None):
        try:
            while data := source.recv(1 << 16):
                if keep is not None:
                    keep += data
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:  # the other direction shall end too
            for end in (source, sink):
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    def sent(self):
        """The Hello, and all whole frames as [frames, A-scans, samples] in the order in which they were sent."""
        data, at, hello, frames = bytes(self.stream), 0, None, {}
        while at + 24 <= len(data):
            _, _, kind, header, payload, _ = struct.unpack_from("<IHHIQI", data, at)
            begin, end = at + 24 + header, at + 24 + header + payload
            if end > len(data):
                break
            if kind == 1:
                hello = acquisition_pb2.Hello.FromString(data[at + 24:begin])
            elif kind == 4:
                shot = acquisition_pb2.Shot.FromString(data[at + 24:begin])
                frames.setdefault(shot.sequence, {})[shot.transmit] = data[begin:end]
            at = end
        count = len(hello.events) or len(hello.probe.x)
        whole = [b"".join(shots[i] for i in range(count)) for shots in frames.values() if len(shots) == count]
        return hello, [decoded(hello, frame) for frame in whole]


def decoded(hello, frame):
    if hello.encoding == acquisition_pb2.FLOAT32:
        return numpy.frombuffer(frame, "<f4").reshape(-1, hello.samples)
    if hello.encoding == acquisition_pb2.INT16:
        return numpy.frombuffer(frame, "<i2").reshape(-1, hello.samples)
    rows = numpy.frombuffer(frame, numpy.uint8).reshape(-1, (3 * hello.samples + 1) // 2)
    bits = numpy.unpackbits(rows, axis=1, bitorder="little")[:, :12 * hello.samples].reshape(len(rows), hello.samples, 12)
    counts = bits @ (1 << numpy.arange(12, dtype=numpy.int32))
    return (counts - 4096 * (counts >= 2048)).astype(numpy.int16)
