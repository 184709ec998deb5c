"""Figures of tools/tomography-study without a plotting library: pictures in grey as PNG, curves as SVG."""
import struct
import zlib

import numpy as np

COLOURS = ("#000000", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9")
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 560, 320, 64, 150, 28, 46


def write_grey(path, picture):
    """uint8 [row, column], as PNG."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = np.zeros((picture.shape[0], picture.shape[1] + 1), np.uint8)
    rows[:, 1:] = picture
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", picture.shape[1], picture.shape[0], 8, 0, 0, 0, 0)) +
                     chunk(b"IDAT", zlib.compress(rows.tobytes(), 9)) + chunk(b"IEND", b""))


def write_panels(path, panels, least, most, across, enlarge=1):
    """Pictures [row, column] of one size side by side, `across` in a row, black at `least` and white at `most`."""
    gap = 4
    rows, columns = (size * enlarge for size in panels[0].shape)
    down = -(-len(panels) // across)
    page = np.full((down * (rows + gap) - gap, across * (columns + gap) - gap), 128, np.uint8)
    for k, panel in enumerate(panels):
        grey = np.clip(np.round(255 * (panel - least) / (most - least)), 0, 255).astype(np.uint8)
        y, x = k // across * (rows + gap), k % across * (columns + gap)
        page[y:y + rows, x:x + columns] = np.kron(grey, np.ones((enlarge, enlarge), np.uint8))
    write_grey(path, page)


def _ticks(first, last):
    """Some round numbers of the axis."""
    step = 10.0 ** np.floor(np.log10((last - first) / 4))
    step *= next(m for m in (1, 2, 5, 10) if (last - first) / (m * step) <= 6)
    return [k * step for k in range(int(np.ceil(first / step - 1e-9)), int(np.floor(last / step + 1e-9)) + 1)]


def write_curves(path, curves, x_label, y_label, logarithmic=False):
    """Curves [(name, x, y)], those of y logarithmic where that is asked for."""
    def of_y(values):
        return np.log10(np.maximum(np.asarray(values, float), 1e-30)) if logarithmic else np.asarray(values, float)

    xs = np.concatenate([np.asarray(x, float) for _, x, _ in curves])
    ys = np.concatenate([of_y(y) for _, _, y in curves])
    x0, x1 = float(xs.min()), float(xs.max())
    margin = 0.05 * max(1e-12, float(ys.max() - ys.min()))
    y0, y1 = float(ys.min()) - margin, float(ys.max()) + margin

    def place(x, y):
        return (LEFT + (x - x0) / (x1 - x0) * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - (y - y0) / (y1 - y0) * (HEIGHT - TOP - BOTTOM))

    def text(x, y, what, anchor="middle", turn=""):
        return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{turn}>{what}</text>'

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" font-size="12">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>']
    for tick in _ticks(x0, x1):
        x, y = place(tick, y0)
        out += [f'<line x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{y:.1f}" stroke="#dddddd"/>', text(x, y + 16, f"{tick:g}")]
    for tick in _ticks(y0, y1):
        x, y = place(x0, tick)
        out += [f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" stroke="#dddddd"/>',
                text(x - 6, y + 4, f"{10 ** tick:.2g}" if logarithmic else f"{tick:g}", "end")]
    out += [text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, x_label),
            text(16, (TOP + HEIGHT - BOTTOM) / 2, y_label, turn=f' transform="rotate(-90 16 {(TOP + HEIGHT - BOTTOM) / 2:.1f})"')]
    for k, (name, x, y) in enumerate(curves):
        colour = COLOURS[k % len(COLOURS)]
        places = [place(a, b) for a, b in zip(np.asarray(x, float), of_y(y))]
        out.append(f'<polyline fill="none" stroke="{colour}" stroke-width="1.5" points="' + " ".join(f"{a:.1f},{b:.1f}" for a, b in places) + '"/>')
        if len(places) <= 8:
            out += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{colour}"/>' for a, b in places]
        out += [f'<line x1="{WIDTH - RIGHT + 10}" y1="{TOP + 16 * k}" x2="{WIDTH - RIGHT + 30}" y2="{TOP + 16 * k}" stroke="{colour}" stroke-width="2"/>',
                text(WIDTH - RIGHT + 36, TOP + 16 * k + 4, name, "start")]
    path.write_text("\n".join(out + ["</svg>"]) + "\n")
