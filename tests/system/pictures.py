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
    pixels = numpy.zeros((height, width, 3), numpy.uint8)
    above = numpy.zeros((width, 3), int)
    for row in range(height):
        filtered, line = rows[row, 0], rows[row, 1:].reshape(width, 3).astype(int)
        if filtered == 2:
            line = (line + above) & 255
        elif filtered:
            out, left = line, numpy.zeros(3, int)
            upper_left = numpy.zeros(3, int)
            for column in range(width):
                up = above[column]
                if filtered == 1:
                    guess = left
                elif filtered == 3:
                    guess = (left + up) // 2
                else:
                    p = left + up - upper_left
                    a, b, c = abs(p - left), abs(p - up), abs(p - upper_left)
                    guess = numpy.where((a <= b) & (a <= c), left, numpy.where(b <= c, up, upper_left))
                left = out[column] = (line[column] + guess) & 255
                upper_left = up
            line = out
        pixels[row] = line
        above = line
    return pixels, texts


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


