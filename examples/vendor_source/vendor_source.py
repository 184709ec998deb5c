#!/usr/bin/env python3
"""An instrument whose SDK calls back with samples, as a source of frames for an Echoform server: docs/vendor_source.md. Needs numpy.

    python3 examples/vendor_source/vendor_source.py --connect 127.0.0.1:17171 --rate 25

What is the instrument's own stands in acquisition_of() and main().
"""
import argparse
import collections
import dataclasses
import os
import pathlib
import sys
import threading
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))  # not needed once the package is installed
import echoform  # noqa: E402
import synthetic_sdk as sdk  # noqa: E402


class FrameQueue:
    """Frames between the thread of an SDK and that of a socket. The SDK's never waits: a frame for which there is no room when its
    first shot comes is dropped whole, and counted."""

    def __init__(self, room: int, shape: tuple[int, int, int]):
        self.frames = 0  # that the SDK has begun
        self.dropped = 0  # of them, since there was no room
        self.incomplete = 0  # of which the SDK left out shots; they are not sent
        self._condition = threading.Condition()
        self._free = [np.empty(shape, np.int16) for _ in range(room)]
        self._ready: collections.deque = collections.deque()
        self._ended = False
        # Of the SDK's thread.
        self._current = None
        self._filling = None
        self._missing: set[int] = set()
        self._time = 0

    def put(self, shot: sdk.Shot) -> None:
        """The SDK's callback: a copy, or a count, and nothing that waits."""
        if shot.frame != self._current:
            self._begin(shot)
        if self._filling is None or shot.element not in self._missing:
            return
        self._filling[shot.element] = shot.samples
        self._missing.discard(shot.element)
        if not self._missing:
            with self._condition:
                self._ready.append((shot.frame, self._time, self._filling))
                self._condition.notify()
            self._filling = None

    def end(self) -> None:
        with self._condition:
            self._ended = True
            self._condition.notify()

    def take(self):
        """(sequence, time, frame), or None when no more come."""
        with self._condition:
            self._condition.wait_for(lambda: self._ready or self._ended)
            return self._ready.popleft() if self._ready else None

    def give_back(self, frame: np.ndarray) -> None:
        with self._condition:
            self._free.append(frame)

    def _begin(self, shot: sdk.Shot) -> None:
        self._current = shot.frame
        self.frames += 1
        if self._filling is not None:  # its frame has ended without all of its shots, and its room serves the next
            self.incomplete += 1
        else:
            with self._condition:
                self._filling = self._free.pop() if self._free else None
        if self._filling is None:
            self.dropped += 1
            return
        self._missing = set(range(len(self._filling)))
        self._time = shot.time


def acquisition_of(settings: sdk.Settings) -> echoform.Acquisition:
    probe = echoform.Probe.linear(settings.elements, settings.pitch, element_width=0.9 * settings.pitch,
                                  centre_frequency=settings.frequency, bandwidth=0.6 * settings.frequency)
    return echoform.Acquisition(probe, settings.samples, settings.sample_rate)


def report(queue: FrameQueue, device: sdk.Device) -> None:
    """Says what is dropped, once a second at most, and ends the queue once the device has."""
    said = 0
    while True:
        finished = device.finished.wait(1.0)
        if queue.dropped != said:
            said = queue.dropped
            print(f"{said} frames dropped so far: the server is slower than the instrument", file=sys.stderr, flush=True)
        if finished:
            print("the instrument has made its last frame", file=sys.stderr, flush=True)
            return queue.end()


@dataclasses.dataclass
class Sent:
    frames: int = 0
    given_up: int = 0  # that were being sent when the connection broke


def send(queue: FrameQueue, device: sdk.Device, acquisition: echoform.Acquisition, endpoint: str, sent: Sent) -> None:
    """Until no more frames come; connects anew where the connection is lost."""
    started = False
    while True:
        try:
            with echoform.FrameSender(acquisition, endpoint, token=os.environ.get("ECHOFORM_TOKEN", ""), name="vendor_source") as sender:
                print(f"connected to {sender.server}", file=sys.stderr, flush=True)
                if not started:  # what it makes before somebody listens would only be dropped
                    started = True
                    device.start()
                    threading.Thread(target=report, args=(queue, device), daemon=True).start()
                while (taken := queue.take()) is not None:
                    sequence, time_ns, frame = taken
                    try:
                        sender.send(frame, sequence=sequence, time_ns=time_ns)
                        sent.frames += 1
                    except echoform.ConnectionFailed:
                        sent.given_up += 1
                        raise
                    finally:
                        queue.give_back(frame)
                return
        except echoform.ConnectionFailed as error:
            if not started:
                raise
            print(error, file=sys.stderr, flush=True)
            time.sleep(0.5)


def within(kind: type, low: float, high: float):
    """What an option takes, for argparse."""
    def read(word: str):
        value = kind(word)
        if not low <= value <= high:
            raise argparse.ArgumentTypeError(f"found {word}; expected {low:g} to {high:g}")
        return value
    return read


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], allow_abbrev=False)
    parser.add_argument("--connect", default="127.0.0.1:17171", metavar="HOST:PORT")
    parser.add_argument("--rate", type=within(float, 0.01, 1e5), default=25.0, help="frames a second")
    parser.add_argument("--frames", type=within(int, 0, 1e15), default=0, help="0: until Ctrl-C")
    parser.add_argument("--queue", type=within(int, 1, 4096), default=8, help="frames that wait at most")
    options = parser.parse_args()
    # Frames as those of `echoform demo`: 2 MiB each.
    settings = sdk.Settings(elements=32, pitch=0.6e-3, frequency=5e6, samples=1024, sample_rate=40e6, frames_per_second=options.rate,
                            frames=options.frames)
    queue = FrameQueue(options.queue, (settings.elements, settings.elements, settings.samples))
    device = sdk.Device(settings, queue.put)
    sent = Sent()
    try:
        send(queue, device, acquisition_of(settings), options.connect, sent)
    except KeyboardInterrupt:
        pass
    finally:
        device.stop()
    print(f"{queue.frames} frames: {sent.frames} sent, {queue.dropped} dropped, {queue.incomplete} incomplete, {sent.given_up} given up; {device.late} fired late")


if __name__ == "__main__":
    try:
        main()
    except echoform.Rejected as error:
        sys.exit(f"refused: {error}")
    except (echoform.EchoformError, ValueError, OSError) as error:
        sys.exit(f"{error}")
    except KeyboardInterrupt:
        pass
