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
    return unfiltered(rows[:, 0], rows[:, 1:].reshape(height, width, 3)), texts


def unfiltered(kinds, rows):
    """Pixels by those at their left, over them and in the corner between. Sums of bytes wrap around. A diagonal at once, whose pixels
    do not depend on each other: pixel by pixel a figure takes seconds."""
    height, width, _ = rows.shape
    # Above the first row and left of the first column all is 0.
    out = numpy.zeros((1 + height, 1 + width, 3), numpy.int16)
    for diagonal in range(height + width - 1):
        row = numpy.arange(max(0, diagonal - width + 1), min(height, diagonal + 1))
        column = diagonal - row
        left, over, corner = out[row + 1, column], out[row, column + 1], out[row, column]
        to_left, to_over, to_corner = abs(over - corner), abs(left - corner), abs(left + over - 2 * corner)
        nearest = numpy.where((to_left <= to_over) & (to_left <= to_corner), left,
                              numpy.where(to_over <= to_corner, over, corner))
        guess = numpy.choose(kinds[row, None], (0, left, over, (left + over) // 2, nearest))
        out[row + 1, column + 1] = (rows[row, column] + guess) & 255
    return out[1:, 1:].astype(numpy.uint8)


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


