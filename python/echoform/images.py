"""Live images."""
from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Iterator

from ._sockets import Subscription, stream_prefix
from .errors import MalformedMessage
from .image import Image

_LONGEST_STEP = 65536  # between sequences of one numbering, as the server counts


@dataclasses.dataclass(frozen=True)
class SubscriberStatistics:
    """What an ImageSubscriber has seen."""

    messages: int  # all that came
    malformed: int  # skipped: not an image, or one that contradicts itself
    images: int  # messages - malformed
    sequences: int  # distinct sequences among the images
    gaps: int  # sequences that were passed over
    restarts: int  # the sequence went back, or on by more than 65536: the source began anew
    bytes: int
    seconds: float  # from the first image to the last
    images_per_second: float  # of sequences after the first, those that are another image, / seconds
    unchanged: int = 0  # of the sequences: images of a scan that are the image received before


class ImageSubscriber:
    """Images of one stream, as they are published.

        with ImageSubscriber() as images:
            for image in images:
                show(image.pixels)

    endpoint       the server's `[server] images`: "tcp://HOST:PORT" or "HOST:PORT"
    stream         the stream's exact name: the server's name ("echoform"; with several views "echoform/LL"), or with ".display"
                   the 8-bit image; "" for every stream
    latest_only    whoever reads slowly gets the newest image instead of every one; what it skips counts as gaps
    timeout        seconds to wait for an image, None for ever. Iteration raises TimedOut when it has passed.
    queue          images that wait here at most while nobody reads; the server drops what does not fit, and it counts as gaps
    maximum_bytes  a publisher that sends a longer message is disconnected for good
    server_key, client_key   files of CURVE keys: the server's PREFIX.public and one's own PREFIX.secret, as `echoform keygen` writes
                   them; without client_key a key of the moment, which a server that lists its clients refuses
    It does not matter whether the server is there yet, or goes and comes back. A message that is not a sound image is skipped and
    counted; `last_fault` says what was wrong. One thread at a time.
    """

    def __init__(self, endpoint: str = "tcp://127.0.0.1:17180", stream: str = "echoform", *, latest_only: bool = False,
                 timeout: float | None = None, queue: int = 16, maximum_bytes: int = 256 << 20,
                 server_key: str | os.PathLike | None = None, client_key: str | os.PathLike | None = None):
        self.stream = stream
        self.timeout = timeout
        self.last_fault = ""
        self._messages = self._malformed = self._images = self._sequences = self._gaps = self._restarts = self._bytes = 0
        self._unchanged = self._others = 0  # of the sequences after the first
        self._places: int | None = None
        self._first = self._last = 0.0
        self._sequence = 0
        self._socket = Subscription(endpoint, stream_prefix(stream) if stream else b"", latest_only=latest_only,
                                    maximum_bytes=maximum_bytes, queue=queue, server_key=server_key, client_key=client_key)

    def receive(self, timeout: float | None = -1.0) -> Image:
        """The next image. Waits at most `timeout` seconds (None for ever; the subscriber's own if it is left out), then raises
        TimedOut."""
        timeout = self.timeout if timeout is not None and timeout < 0 else timeout
        for frame in self._socket.messages(timeout, f"no image of stream {self.stream or '(any)'}"):
            self._messages += 1
            try:
                if frame is None:
                    raise MalformedMessage("more than one part")
                image = Image(frame.buffer)
            except MalformedMessage as fault:
                self._malformed += 1
                self.last_fault = str(fault)
                continue
            self._count(image, len(frame))
            return image
        raise AssertionError("messages() ends by an exception")

    def __iter__(self) -> Iterator[Image]:
        while True:
            yield self.receive()

    @property
    def statistics(self) -> SubscriberStatistics:
        seconds = self._last - self._first
        rate = self._others / seconds if self._sequences > 1 and seconds > 0 else 0.0
        return SubscriberStatistics(self._messages, self._malformed, self._images, self._sequences, self._gaps, self._restarts,
                                    self._bytes, seconds, rate, self._unchanged)

    @property
    def images(self) -> int:
        """Images that came."""
        return self._images

    @property
    def gaps(self) -> int:
        """Sequences that were passed over: images that the server never made, or that did not come here."""
        return self._gaps

    def close(self) -> None:
        self._socket.close()

    def __enter__(self) -> ImageSubscriber:
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def _count(self, image: Image, size: int) -> None:
        sequence = image.sequence
        self._last = time.monotonic()
        if self._images == 0:
            self._first = self._last
        self._images += 1
        self._bytes += size
        if self._sequences and sequence == self._sequence:  # another stream's image of the same frame
            return
        if self._sequences:
            step = (sequence - self._sequence) % 2**64  # numberings go on with 0 behind the last
            if step > _LONGEST_STEP:
                self._restarts += 1
            else:
                self._gaps += step - 1
        if self._sequences and image.scan_places is not None and image.scan_places == self._places:
            self._unchanged += 1
        elif self._sequences:
            self._others += 1
        self._places = image.scan_places
        self._sequences += 1
        self._sequence = sequence
