"""Figures as people see them: the pixels of a PNG file, the place of its plot and of its colour bar. By the PNG standard alone."""
import struct
import zlib

import numpy


def read_png(path):
    """uint8 [height, width, 3], and the texts by name."""
    data, at, packed, texts = path.read_bytes(), 8, b"", {}
    while at < len(data):
        size, name = struct.unpack_from(">I4s", data, at)
        body = data[at + 8:at + 8 + size]
        if name == b"IHDR":
            width, height, depth, kind = struct.unpack(">IIBB", body[:10])
            assert (depth, kind) == (8, 2), "RGB of 8 bits"
        elif name == b"IDAT":
            packed += body
        elif name == b"tEXt":
            key, _, value = body.decode("latin-1").partition("\0")
            texts[key] = value
        at += 12 + size
    rows = numpy.frombuffer(zlib.decompress(packed), numpy.uint8).reshape(height, 1 + 3 * width)
    pixels = numpy.zeros((height, 3 * width), numpy.uint8)
    above = numpy.zeros(3 * width, numpy.uint8)
    for row in range(height):
        above = pixels[row] = unfiltered(rows[row, 0], rows[row, 1:], above)
    return pixels.reshape(height, width, 3), texts


def unfiltered(kind, line, above):
    """A row of bytes by the one above. Sums of bytes wrap around."""
    if kind == 0:
        return line
    if kind == 1:
        return numpy.cumsum(line.reshape(-1, 3), axis=0, dtype=numpy.uint8).ravel()
    if kind == 2:
        return line + above
    up = [0, 0, 0, *above.tolist()]  # plain numbers: these rows depend on themselves, byte by byte
    out = [0, 0, 0]
    for k, byte in enumerate(line.tolist()):
        left, over, corner = out[k], up[k + 3], up[k]
        if kind == 3:
            guess = (left + over) // 2
        else:
            to_left, to_over, to_corner = abs(over - corner), abs(left - corner), abs(left + over - 2 * corner)
            guess = left if to_left <= to_over and to_left <= to_corner else over if to_over <= to_corner else corner
        out.append((byte + guess) & 255)
    return numpy.array(out[3:], numpy.uint8)


class Picture:
    """A figure of one plot."""

    BAR = (32, 26)  # pixels from the plot to the colour bar, and its width

    def __init__(self, path):
        self.pixels, self.texts = read_png(path)
        self.left, self.top, self.width, self.height = map(int, self.texts["PlotArea"].split())
        key = next(key for key in self.texts if key.startswith("Extent"))
        self.ends = [float(number) for number in self.texts[key].split()]

    def colour(self, across, down):
        """Red, green and blue at a place in the axes' shown units."""
        first, last, upper, lower = self.ends
        column = self.left + (across - first) / (last - first) * self.width
        row = self.top + (down - upper) / (lower - upper) * self.height
        return tuple(int(part) for part in self.pixels[int(row), int(column)])

    def bar(self, share):
        """The colour of the bar at a share of its height, 0 below and 1 above."""
        row = self.top + int((1.0 - share) * (self.height - 1))
        return tuple(int(part) for part in self.pixels[row, self.left + self.width + self.BAR[0] + self.BAR[1] // 2])

    def below_bar(self):
        """The colours in the middle of the bar's column, below it."""
        column = self.left + self.width + self.BAR[0] + self.BAR[1] // 2
        return {tuple(int(part) for part in pixel) for pixel in self.pixels[self.top + self.height + 4:, column]}


