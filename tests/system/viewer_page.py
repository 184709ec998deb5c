"""Opens the viewer's page in headless Chromium and checks what is on its canvas.

Exit codes: 0 passed, 1 failed, 77 skipped (no Chromium, no chromedriver or no Selenium).
"""
import argparse
import math
import os
import pathlib
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service
except ImportError:
    print("skipped: Selenium for Python is not installed")
    sys.exit(77)

PATIENCE = 30.0  # seconds within which anything expected must have happened on a busy machine

# Of a configuration: every door on a free port of this machine; frames of a page that is looked at slowly are not given up.
LOOPBACK_DOORS = """[input]
listen = "127.0.0.1:0"
incomplete_timeout = 60
[server]
images = "127.0.0.1:0"
telemetry = "127.0.0.1:0"
control = "127.0.0.1:0"
web = "127.0.0.1:0"
"""


class Server:
    """The helper program, driven over its standard input."""

    def __init__(self, program, port=0):
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen([program, str(port)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True)
        line = self.process.stdout.readline().split()
        assert line[:1] == ["port"], "the server did not start"
        self.port = int(line[1])

    def do(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline().strip() == "ok"

    def log(self):
        self.errors.seek(0)
        return self.errors.read()

    def quit(self):
        self.process.stdin.write("quit\n")
        self.process.stdin.flush()
        self.process.wait(timeout=PATIENCE)


class Page:
    def __init__(self, driver):
        self.driver = driver

    def state(self):
        return self.driver.execute_script("return window.echoform.state()")

    def until(self, what, condition):
        deadline = time.monotonic() + PATIENCE
        while True:
            state = self.state()
            if condition(state):
                return state
            assert time.monotonic() < deadline, f"{what}: still {state}"
            time.sleep(0.02)  # between looks at the page; the condition decides

    def colour(self, x_mm, z_mm):
        """What the figure shows at a place of the part: red, green, blue."""
        return self.driver.execute_script(
            """const p = window.echoform.place(arguments[0], arguments[1]), c = document.getElementById('figure'), r = devicePixelRatio;
               return [...c.getContext('2d').getImageData(Math.round(p.x * r), Math.round(p.y * r), 1, 1).data].slice(0, 3)""", x_mm, z_mm)

    def hatched(self, x_mm, z_mm, k=0):
        """Whether both greys of the hatching for pixels without a value, and nothing else that matters, are around a place of pane `k`."""
        dark, pale, all_of_them = self.driver.execute_script(
            """const p = window.echoform.place(arguments[0], arguments[1], arguments[2]), c = document.getElementById('figure'), r = devicePixelRatio;
               const side = 16, d = c.getContext('2d').getImageData(Math.round(p.x * r) - side / 2, Math.round(p.y * r) - side / 2, side, side).data;
               const count = grey => { let n = 0; for (let i = 0; i < d.length; i += 4) if (d[i] === grey && d[i + 1] === grey && d[i + 2] === grey) n++; return n; };
               return [count(0x60), count(0x8c), side * side]""", x_mm, z_mm, k)
        return dark > 0.2 * all_of_them and pale > 0.1 * all_of_them

    def brightest(self):
        """Centre in mm, or what the axes are in, of the pixels of the image area that are nearly as bright as the brightest."""
        return self.driver.execute_script(
            """const l = window.echoform.state().layout, c = document.getElementById('figure'), r = devicePixelRatio;
               const w = Math.floor(l.w * r) - 4, h = Math.floor(l.h * r) - 4, x = Math.ceil(l.x * r) + 2, y = Math.ceil(l.y * r) + 2;
               const d = c.getContext('2d').getImageData(x, y, w, h).data, v = i => d[4*i] + d[4*i+1] + d[4*i+2];
               let top = 0; for (let i = 0; i < w * h; i++) top = Math.max(top, v(i));
               let n = 0, sx = 0, sy = 0;
               for (let i = 0; i < w * h; i++) if (v(i) >= top - 6) { n++; sx += i % w; sy += Math.floor(i / w); }
               const across = l.w / (l.x1 - l.x0), down = l.h / (l.z1 - l.z0);
               return [l.x0 + ((x + sx / n + .5) / r - l.x) / across, l.z0 + ((y + sy / n + .5) / r - l.y) / down]""")

    def set(self, element, value, event="input"):
        self.driver.execute_script(
            "const e = document.getElementById(arguments[0]); e.value = arguments[1]; e.dispatchEvent(new Event(arguments[2], {bubbles: true}))",
            element, value, event)

    def text(self, element):
        return self.driver.execute_script("return document.getElementById(arguments[0]).textContent", element)

    def shown(self, element):
        return self.driver.execute_script("return !document.getElementById(arguments[0]).hidden", element)

    def screenshot(self, path):
        self.driver.save_screenshot(path)

    def fits(self, screenshots=None, name=""):
        """That at the widths of a phone, a tablet and a desk nothing lies beside the window or over its neighbour in the header, with all
        settings unfolded, and that images have room, of which four may share a phone's width. Screenshots are NAME-WIDTH.png."""
        for width, height in ((390, 844), (768, 1024), (1280, 800)):
            self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 1000})
            self.until(f"{width} px wide, and drawn anew", lambda s: self.driver.execute_script(
                "const f = document.getElementById('figure'); return Math.abs(f.width - Math.round(f.getBoundingClientRect().width)) <= 1"))
            if screenshots:
                self.screenshot(os.path.join(screenshots, f"{name}-{width}.png"))
            wrong = self.driver.execute_script(
                """const width = arguments[0], wrong = [], named = e => `${e.tagName} ${e.id || e.className || e.textContent.slice(0, 20)}`;
                   document.querySelectorAll('details').forEach(d => { d.open = true; });
                   if (document.documentElement.scrollWidth > width) wrong.push(`the page is ${document.documentElement.scrollWidth} px wide`);
                   for (const e of document.querySelectorAll('header *, main > *, main canvas, aside section, aside section *')) {
                     const r = e.getBoundingClientRect();
                     if (r.width && r.height && !e.closest('svg') && (r.left < -1 || r.right > width + 1)) wrong.push(`${named(e)} from ${r.left} to ${r.right}`);
                   }
                   const header = [...document.querySelectorAll('h1, #status, label[for=stream], #stream')].map(e => [named(e), e.getBoundingClientRect()]);
                   header.forEach(([a, r], k) => header.slice(k + 1).forEach(([b, s]) => {
                     if (r.left < s.right - 1 && s.left < r.right - 1 && r.top < s.bottom - 1 && s.top < r.bottom - 1) wrong.push(`${a} over ${b}`);
                   }));
                   const list = document.getElementById('stream').getBoundingClientRect();
                   if (list.width < 120) wrong.push(`the list of streams is ${list.width} px wide`);
                   for (const { layout } of window.echoform.state().figures)
                     if (!layout || layout.w < 40 || layout.h < 40) wrong.push(`axes of ${layout && layout.w} x ${layout && layout.h} px`);
                   return wrong""", width)
            assert not wrong, (width, wrong)
        self.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def open_browser(profile, size="1280,800"):
    browser, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not browser or not driver:
        print("skipped: chromium or chromedriver is not installed")
        sys.exit(77)
    options = Options()
    options.binary_location = browser
    for flag in ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
                 "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", f"--window-size={size}", f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(service=Service(driver), options=options)


def run_live(program, screenshots, name, config, simulator, rate, check, instrument=""):
    """Serves by `config`, simulates by `simulator`, both TOML, `rate` frames a second, opens the page and calls check(driver, places)
    with the server's doors by name. With `instrument` the server connects to a simulated one of that name, which goes by `simulator`
    and at the rate that it is told; {instrument} in `config` is where it listens. What fails is left as a screenshot,
    NAME-failed.png. The server must end in order, without a drop."""
    os.makedirs(screenshots, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        (path / "simulator.toml").write_text(simulator)
        processes = []

        def start(*arguments, output=subprocess.PIPE):
            processes.append(subprocess.Popen([program, "--log-level", "warning", *map(str, arguments)], stdout=output, text=True))
            return processes[-1]

        driver = open_browser(str(path / "profile"), "1280,1000")
        try:
            if instrument:
                source = start("instrument", instrument, "--listen", "127.0.0.1:0", "--config", path / "simulator.toml")
                config = config.replace("{instrument}", re.search(r"\S+:\d+", source.stdout.readline())[0])
            (path / "serve.toml").write_text(config)
            server = start("serve", "--config", path / "serve.toml")
            places = {}
            while "control" not in places:
                line = server.stdout.readline()
                assert line, "the server ended"
                places[line[:11].strip()] = line[12:].strip()
            if not instrument:
                sender = places["frames in"].split("tcp://")[-1].split()[-1]
                source = start("simulate", "--connect", sender, "--config", path / "simulator.toml", "--rate", rate, output=subprocess.DEVNULL)
            driver.get(re.search(r"http://\S+", places["viewer"])[0])
            try:
                check(driver, places)
            except Exception:
                driver.save_screenshot(os.path.join(screenshots, f"{name}-failed.png"))
                raise
            # A sender ends before the server does; from an instrument the server takes its leave.
            for process in (server, source) if instrument else (source, server):
                process.send_signal(signal.SIGTERM)
                out, _ = process.communicate(timeout=PATIENCE)
                if process is server:
                    assert server.returncode == 0 and "drops none" in out, out
        finally:
            driver.quit()
            for process in processes:
                if process.poll() is None:
                    process.kill()
                process.wait()
                if process.stdout:
                    process.stdout.close()
    print("passed; screenshots in", screenshots)


def near(found, expected, tolerance):
    return all(abs(a - b) <= tolerance for a, b in zip(found, expected))


def check_slow_stream(page, server):
    """An image each 5 s, as iterations come: 2 s after the last it has not stopped, and says how old it is."""
    page.until("the server's streams", lambda s: s["streams"] and s["status"] == "waiting")
    for count, seconds in enumerate((20, 15, 10, 5), 1):  # of those that come together the page fetches the newest alone
        server.do(f"past {seconds}")
        page.until(f"image {count}", lambda s: s["received"] >= count)
    state = page.until("2 s after several images", lambda s: s["status"] != "live")
    assert state["status"] == "slow" and re.fullmatch(r"Last image \d+ s ago", state["text"]), state
    assert not page.shown("notice") and 0 < state["imagesPerSecond"] < 0.25, state
    page.until("the age of the last image in the header", lambda s: s["status"] == "slow" and page.text("status") == s["text"])


def check(page, server, program, folder):
    # As a browser has one in reserve: it asks for nothing.
    reserve = socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE)
    check_slow_stream(page, server)

    # Live, at a rate, with everything filled in.
    server.do("run")
    state = page.until("live", lambda s: s["status"] == "live" and s["received"] > 20 and s["imagesPerSecond"] > 5)
    assert state["stream"] == "echoform" and state["faults"] == 0, state
    page.until("the statistics are shown", lambda s: float(page.text("rate")) > 0 and "ms" in page.text("latency"))

    # Where the probe was, as long as frames say so.
    assert state["position"] is None and not page.shown("position"), state
    for count, text in ((-41200, "-41\u202f200"), (0, "0"), (7, "7")):
        server.do(f"position {count}")
        page.until("the position is shown", lambda s: s["position"] == count and page.text("position") == text and page.shown("position"))
    server.do("nowhere")
    page.until("no position", lambda s: s["position"] is None and not page.shown("position"))

    # Axes in mm, the right way round, with one scale along both.
    ticks, layout = state["ticks"], state["layout"]
    assert ticks["x"][0] >= -20.2 and ticks["x"][-1] <= 20.2 and len(ticks["x"]) >= 3 and 0 in ticks["x"], ticks
    assert ticks["z"] == sorted(ticks["z"]) and len(ticks["z"]) >= 3, ticks
    assert math.isclose(ticks["bar"][-1], 0, abs_tol=1e-9) and math.isclose(ticks["bar"][0], -40, abs_tol=1e-9), ticks
    assert abs(layout["w"] / layout["h"] - (layout["x1"] - layout["x0"]) / (layout["z1"] - layout["z0"])) < 0.01, layout
    pixel = 40 / 255
    assert near((layout["x0"], layout["x1"]), (-20 - pixel / 2, 20 + pixel / 2), 1e-6), layout

    # The spot is where its place in mm says: within one image pixel (0.17 mm).
    for x, z in ((8, 30), (-12.5, 11)):
        server.do(f"spot {x} {z}")
        sequence = page.state()["sequence"]
        page.until("a new image", lambda s: s["sequence"] > sequence + 10)
        place = page.brightest()
        assert near(place, (x, z), 0.18), (place, (x, z))
    os.makedirs(folder, exist_ok=True)
    page.screenshot(os.path.join(folder, "viewer-live.png"))

    # Colours: the spot has viridis's top (fde725), far away its bottom (440154).
    assert near(page.colour(-12.5, 11), (0xFD, 0xE7, 0x25), 6), page.colour(-12.5, 11)
    assert near(page.colour(15, 40), (0x44, 0x01, 0x54), 6), page.colour(15, 40)
    page.set("map", "inferno", "change")
    assert near(page.colour(15, 40), (0, 0, 4), 6), page.colour(15, 40)
    page.set("map", "grey", "change")

    # Sliders change pixels as the formula says: grey = 255 (1 + (dB + gain) / range). 1.5 mm off, exp(-1.125) is -9.8 dB.
    def grey(gain, dynamic_range):
        decibels = 20 * math.log10(math.exp(-0.5 * 1.5**2))
        return 255 * min(1, max(0, 1 + (decibels + gain) / dynamic_range))

    page.driver.execute_script("document.getElementById('pause').click()")
    page.until("paused", lambda s: s["paused"])
    for gain, dynamic_range in ((0, 40), (0, 20), (6, 20), (-6, 60)):
        page.set("gain", gain)
        page.set("range", dynamic_range)
        found = page.colour(-12.5, 12.5)
        # A tenth of a millimetre between pixel and place is 1.3 dB on this slope.
        assert abs(found[0] - grey(gain, dynamic_range)) <= 255 * 1.4 / dynamic_range + 2, (gain, dynamic_range, found, grey(gain, dynamic_range))
    page.set("gain", 0)
    page.set("range", 40)

    # A pause holds the image while the source goes on; resuming takes up the newest.
    held = page.state()["sequence"]
    server.do("spot 0 20")
    time.sleep(0.5)  # gives the page the time to do the wrong thing
    state = page.state()
    assert state["sequence"] == held and state["status"] == "paused", state
    page.driver.execute_script("document.getElementById('pause').click()")
    page.until("resumed", lambda s: s["status"] == "live" and s["sequence"] > held + 10)

    # Frozen, the last seconds can be looked at again: stepped through, and played.
    server.do("spot 5 15")
    first = page.state()["sequence"]
    earlier = page.until("some images", lambda s: s["sequence"] > first + 20)["sequence"]
    server.do("spot -5 25")
    page.until("some more", lambda s: s["sequence"] > earlier + 20)
    page.driver.execute_script("document.getElementById('pause').click()")
    state = page.until("frozen", lambda s: s["paused"] and page.shown("loop"))
    count, newest = state["loop"]["count"], state["sequence"]
    assert count > 4 and state["loop"]["at"] == count - 1 and state["loop"]["bytes"] <= 128 * 2**20, state
    while page.state()["sequence"] > earlier:
        page.driver.execute_script("document.getElementById('loopBack').click()")
    assert page.state()["sequence"] == earlier and near(page.brightest(), (5, 15), 0.18), (page.state(), page.brightest())
    assert f"{page.state()['loop']['at'] + 1} of {count}, \u2212" in page.text("loopText"), page.text("loopText")
    page.driver.find_element("id", "figure").send_keys(".")
    assert earlier < page.state()["sequence"] < newest, page.state()
    page.set("loopAt", count - 2)
    assert page.state()["sequence"] < newest and near(page.brightest(), (-5, 25), 0.18), page.state()
    page.driver.execute_script("document.getElementById('loopPlay').click()")
    page.until("played beyond its end", lambda s: s["loop"]["playing"] and s["loop"]["at"] < count - 2)
    page.driver.execute_script("document.getElementById('loopPlay').click()")
    state = page.state()
    assert not state["loop"]["playing"] and state["loop"]["count"] == count and state["status"] == "paused", state
    page.driver.execute_script("document.getElementById('pause').click()")
    page.until("live, with what is new", lambda s: s["status"] == "live" and s["sequence"] > newest and not page.shown("loop"))
    server.do("spot 0 20")
    newest = page.state()["sequence"]
    page.until("the spot where it was", lambda s: s["sequence"] > newest + 10)

    # The reference can be fixed: then the peak stays 0 dB at that value only.
    page.set("reference", "fixed", "change")
    page.driver.execute_script("const f = document.getElementById('fixed'); f.value = '10'; f.dispatchEvent(new Event('change'))")
    page.until("the fixed reference is used", lambda s: abs(page.colour(0, 20)[0] - 255 * (1 - 20 / 40)) <= 4)
    page.set("reference", "running", "change")
    page.set("map", "viridis", "change")

    # Values under the pointer.
    page.driver.execute_script(
        """const p = window.echoform.place(0, 20), f = document.getElementById('figure'), b = f.getBoundingClientRect();
           f.dispatchEvent(new PointerEvent('pointermove', {clientX: b.left + p.x, clientY: b.top + p.y}))""")
    readout = page.text("cursor")
    assert "lateral" in readout and "depth" in readout and "mm" in readout and "dB" in readout and ("\u22120.1 dB" in readout or "0.0 dB" in readout), readout

    # The keyboard moves the cursor and pauses.
    figure = page.driver.find_element("id", "figure")
    figure.send_keys("\ue014")  # arrow right
    assert page.text("cursor") != readout
    figure.send_keys(" ")
    page.until("paused by the space bar", lambda s: s["paused"])
    figure.send_keys(" ")
    page.until("resumed by the space bar", lambda s: not s["paused"])

    # The display stream, 8 bits, shows the same spot.
    page.set("stream", "echoform.display", "change")
    page.until("the display stream", lambda s: s["stream"] == "echoform.display" and s["status"] == "live" and s["received"] > 0)
    assert near(page.brightest(), (0, 20), 0.18), page.brightest()
    page.set("stream", "echoform", "change")
    page.until("the envelope again", lambda s: s["stream"] == "echoform" and s["status"] == "live")

    # Says plainly that the stream stopped, and that it is back.
    server.do("stop")
    page.until("stopped", lambda s: s["status"] == "stopped" and "Stream stopped" in s["text"] and s["imagesPerSecond"] == 0)
    page.until("the notice is shown", lambda s: "Stream stopped" in page.text("notice") and "stopped" in page.text("status"))
    page.screenshot(os.path.join(folder, "viewer-stopped.png"))
    server.do("run")
    page.until("live again", lambda s: s["status"] == "live")

    # The connection in reserve is closed in time, and nobody is warned of it.
    assert reserve.recv(1) == b""
    assert "turned away" not in server.log(), server.log()

    # Reconnects when the server comes back on the same port.
    port = server.port
    server.quit()
    page.until("disconnected", lambda s: s["status"] == "disconnected")
    page.screenshot(os.path.join(folder, "viewer-disconnected.png"))
    again = Server(program, port)
    again.do("run")
    page.until("reconnected", lambda s: s["status"] == "live" and s["imagesPerSecond"] > 5)

    # A snapshot is a PNG with axes around the image.
    data = page.driver.execute_async_script(
        """const done = arguments[0], create = URL.createObjectURL;
           URL.createObjectURL = blob => { blob.arrayBuffer().then(b => done(Array.from(new Uint8Array(b)))); return create(blob); };
           document.getElementById('snapshot').click()""")
    with open(os.path.join(folder, "viewer-snapshot.png"), "wb") as file:
        file.write(bytes(data))
    assert bytes(data[:8]) == b"\x89PNG\r\n\x1a\n" and struct.unpack(">I", bytes(data[16:20]))[0] == 2000, data[:24]

    errors = [entry for entry in page.driver.get_log("browser") if entry["level"] == "SEVERE" and "WebSocket" not in entry["message"]
              and "streams.json" not in entry["message"]]
    assert not errors, errors
    page.fits(folder, "viewer-width")
    page.driver.set_window_size(700, 1100)
    page.until("still live when narrow", lambda s: s["status"] == "live")
    page.screenshot(os.path.join(folder, "viewer-narrow.png"))
    again.quit()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", required=True)
    parser.add_argument("--screenshots", required=True)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as profile:
        driver = open_browser(profile)
        server = None
        try:
            server = Server(arguments.server)
            driver.get(f"http://127.0.0.1:{server.port}/")
            check(Page(driver), server, arguments.server, arguments.screenshots)
        except Exception:
            os.makedirs(arguments.screenshots, exist_ok=True)
            driver.save_screenshot(os.path.join(arguments.screenshots, "viewer-failed.png"))
            raise
        finally:
            driver.quit()
            if server is not None and server.process.poll() is None:
                server.process.kill()
    print("passed; screenshots in", arguments.screenshots)


if __name__ == "__main__":
    main()
