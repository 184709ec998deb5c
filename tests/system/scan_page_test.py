"""A scan of 200 positions on the viewer page: its image grows, goes on when the sender comes again, neither a stop of the encoder nor the way
back adds anything, every frame is counted, and the page clears it. Where no position has been yet it is hatched, so that nobody takes it for
a part without echoes."""
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import urllib.request

from viewer_page import LOOPBACK_DOORS, PATIENCE, Page, open_browser

PROGRAM, SCREENSHOTS = sys.argv[1:3]
CELLS, STEP = 200, 0.5  # mm
POINTS = (20.0, 80.0)   # mm
DEPTH = 10.0            # mm
CONFIG = f"""
[material]
longitudinal_velocity = 6320.0
[grid]
x = [-0.004, 0.104]
z = [0.006, 0.014]
pixels = [217, 33]
[scan]
path = "line"
encoder_step = {STEP / 1e3}
coverage = 4e-3
[imaging]
backend = "cpu"
threads = 1
{LOOPBACK_DOORS}[simulator]
elements = 8
pitch = 0.6e-3
samples = 256
points = [[{POINTS[0] / 1e3}, {DEPTH / 1e3}, 1.0], [{POINTS[1] / 1e3}, {DEPTH / 1e3}, 1.0]]
encoder_first = 0
encoder_last = {CELLS - 1}
encoder_step = 1
encoder_pause = 5
"""


class Scan(Page):
    def __init__(self, driver, web):
        super().__init__(driver)
        self.web = web

    def figure(self, name):
        with urllib.request.urlopen(self.web + "metrics", timeout=PATIENCE) as reply:
            text = reply.read().decode()
        return int(float(re.search(rf"^\S*{name}\S* ([\d.e+]+)$", text, re.M)[1]))

    def brightness(self, x_mm):
        return sum(self.colour(x_mm, DEPTH))

    def until_shown(self, what, dark, bright, uncovered):
        """The background is the colour map's darkest, points are far brighter than half of its brightest, and what is uncovered is hatched."""
        self.until(what, lambda s: s["layout"] and all(self.brightness(x) < 200 for x in dark)
                   and all(self.brightness(x) > 450 for x in bright) and [self.hatched(x, DEPTH) for x in (*uncovered, *dark)]
                   == [True] * len(uncovered) + [False] * len(dark))


def send(folder, places, frames):
    sender = places["frames in"].split("tcp://")[-1].split()[-1]
    subprocess.run([PROGRAM, "--log-level", "warning", "simulate", "--connect", sender, "--config", str(folder / "scan.toml"), "--rate", "400",
                    "--frames", str(frames)], check=True, stdout=subprocess.DEVNULL, timeout=4 * PATIENCE)


def until_published(page, frames):
    page.until(f"{frames} frames", lambda s: page.figure("frames_published") == frames)


def check(page, folder, places):
    send(folder, places, 81)
    until_published(page, 81)
    assert page.figure("scan_cells") == 81 and page.figure("scan_repeated") == 0
    # Positions up to 40 mm cover 4 mm more.
    uncovered = (50.0, 60.0, POINTS[1], 102.0)
    page.until_shown("the first point", (5.0, 35.0), POINTS[:1], uncovered)
    assert page.state()["ticks"]["bars"][0]["masked"], "a colour bar with an entry for what has no value"
    page.screenshot(os.path.join(SCREENSHOTS, "scan_uncovered.png"))
    for colours in ("grey", "viridis"):
        page.set("map", colours, "change")
        page.until_shown("on each map", (5.0, 35.0), (), uncovered)
    page.set("stream", "echoform.display", "change")
    page.until_shown("in 8 bits", (5.0, 35.0), POINTS[:1], uncovered)
    page.driver.execute_script(
        """const p = window.echoform.place(80, 10), f = document.getElementById('figure'), b = f.getBoundingClientRect();
           f.dispatchEvent(new PointerEvent('pointermove', {clientX: b.left + p.x, clientY: b.top + p.y}))""")
    assert "no value" in page.text("cursor") and "dB" not in page.text("cursor"), page.text("cursor")
    page.set("stream", "echoform", "change")

    # The sender comes again: from 0 to the end, where the encoder stands still, and some way back.
    send(folder, places, CELLS + 100)
    until_published(page, 81 + CELLS + 100)
    assert page.figure("scan_cells") == CELLS
    assert page.figure("scan_repeated") == 81 + 100, "those of the first way, of the stop and of the way back"
    assert page.figure("scan_outside") == 0 and page.figure("scan_without_position") == 0 and page.figure("scan_refused") == 0
    page.until_shown("both points", (60.0, 50.0), POINTS, ())
    # The image of a place that it holds already is shown again, and is none more.
    held, counted = page.driver.execute_script(
        """const last = panes[0].image, n = [];
           for (const places of [last.places, last.places + 1, null]) { const before = arrivals.length; count(panes[0], { ...last, places }); n.push(arrivals.length - before); }
           return [last.places, n]""")
    assert held == CELLS and counted == [0, 1, 1], (held, counted)

    page.until("the button", lambda s: page.shown("serverClearScan"))
    page.driver.execute_script("document.getElementById('serverClearScan').click()")
    page.until("the question", lambda s: page.text("serverClearScan") == "Press again to clear the scan")
    assert page.figure("scan_cells") == CELLS, "it asks first"
    page.driver.execute_script("document.getElementById('serverClearScan').click()")
    page.until("settled", lambda s: not s["server"]["busy"] and page.text("serverClearScan") == "Clear scan")
    send(folder, places, 1)
    until_published(page, 81 + CELLS + 101)
    assert page.figure("scan_cells") == 1
    page.until_shown("a new scan", (), (), POINTS)


def main():
    os.makedirs(SCREENSHOTS, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "scan.toml").write_text(CONFIG)
        driver = open_browser(str(folder / "profile"), "1280,1000")
        server = subprocess.Popen([PROGRAM, "--log-level", "warning", "serve", "--config", str(folder / "scan.toml")], stdout=subprocess.PIPE,
                                  text=True)
        try:
            places = {}
            while "control" not in places:
                line = server.stdout.readline()
                assert line, "the server ended"
                places[line[:11].strip()] = line[12:].strip()
            web = re.search(r"http://\S+", places["viewer"])[0]
            driver.get(web)
            page = Scan(driver, web)
            try:
                check(page, folder, places)
            except Exception:
                driver.save_screenshot(os.path.join(SCREENSHOTS, "scan_page-failed.png"))
                raise
            driver.save_screenshot(os.path.join(SCREENSHOTS, "scan_page.png"))
            server.send_signal(signal.SIGTERM)
            rest = server.communicate(timeout=PATIENCE)[0]
            assert server.returncode == 0, server.returncode
            assert "drops none" in rest, rest
        finally:
            driver.quit()
            server.kill()
            server.wait()


main()
