"""Four views of a simulated part in water, behind a cylinder, on the viewer page: the reflector at its place in each, outlines, the cursor
in all of them, and a grid that moves while frames run. One file is the configuration of server and source."""
import json
import math
import os
import pathlib
import struct
import sys

from viewer_page import LOOPBACK_DOORS, Page, run_live

from selenium.webdriver.common.keys import Keys

PROGRAM, SCREENSHOTS = sys.argv[1:3]
VIEWS = ["LL", "LT", "TL", "TT"]
RADIUS, STAND_OFF = 25.0, 4.0  # mm
ELEMENTS, PITCH = 24, 0.6
REFLECTOR = (1.2, 6.0)  # mm
# A quarter wavelength of L at 5 MHz, and half a pixel's diagonal on top, since the brightest pixel is looked for.
NEAR = 6.32 / 5 / 4 + 0.5 * math.hypot(0.3, 0.3)
CONFIG = f"""
[material]
longitudinal_velocity = 6320.0
shear_velocity = 3130.0
[couplant]
velocity = 1480.0
[surface]
kind = "cylinder"
radius = {RADIUS / 1e3}
[backwall]
kind = "plane"
z = 0.011
[probe]
stand_off = {STAND_OFF / 1e3}
[grid]
x = [-0.006, 0.006]
z = [-0.001, 0.012]
pixels = [41, 45]
[imaging]
delay_law = "immersion"
views = {json.dumps(VIEWS)}
backend = "cpu"
threads = 1
{LOOPBACK_DOORS}[simulator]
elements = {ELEMENTS}
pitch = {PITCH / 1e3}
element_width = 0.0004
samples = 1200
sample_rate = 50e6
cycle_frames = 4
full_scale = 0.3
skips = 0
wall_echoes = false
points = [[{REFLECTOR[0] / 1e3}, {REFLECTOR[1] / 1e3}, 1.0]]
"""


class Views(Page):
    def point(self, x_mm, z_mm, figure):
        self.driver.execute_script(
            """const p = window.echoform.place(arguments[0], arguments[1], arguments[2]), f = document.getElementById('figure'), b = f.getBoundingClientRect();
               f.dispatchEvent(new PointerEvent('pointermove', {clientX: b.left + p.x, clientY: b.top + p.y}))""", x_mm, z_mm, figure)

    def brightest_at(self, x_mm, z_mm, figure):
        """The brightest pixel of the canvas within two pixels of a place: a line may lie between two."""
        return self.driver.execute_script(
            """const p = window.echoform.place(arguments[0], arguments[1], arguments[2]), r = devicePixelRatio, c = document.getElementById('figure');
               const d = c.getContext('2d').getImageData(Math.round(p.x * r) - 2, Math.round(p.y * r) - 2, 5, 5).data;
               let best = [0, 0, 0];
               for (let i = 0; i < 25; i++) { const v = [...d.slice(4 * i, 4 * i + 3)]; if (v[0] + v[1] + v[2] > best[0] + best[1] + best[2]) best = v; }
               return best""", x_mm, z_mm, figure)

    def brightest_near(self, x_mm, z_mm, figure):
        """Centre in mm of the brightest pixels within 1.2 mm of a place along both axes, and how bright they are: echoes of other modes lie
        elsewhere, and may be brighter."""
        return self.driver.execute_script(
            """const [x0, z0, k] = arguments, place = window.echoform.place, c = document.getElementById('figure'), r = devicePixelRatio, half = 1.2;
               const a = place(x0 - half, z0 - half, k), b = place(x0 + half, z0 + half, k);
               const x = Math.round(a.x * r), y = Math.round(a.y * r), w = Math.round(b.x * r) - x, h = Math.round(b.y * r) - y;
               const d = c.getContext('2d').getImageData(x, y, w, h).data, v = i => d[4*i] + d[4*i+1] + d[4*i+2];
               let top = 0; for (let i = 0; i < w * h; i++) top = Math.max(top, v(i));
               let n = 0, sx = 0, sy = 0;
               for (let i = 0; i < w * h; i++) if (v(i) >= top - 6) { n++; sx += i % w; sy += Math.floor(i / w); }
               return [x0 - half + 2 * half * (sx / n + .5) / w, z0 - half + 2 * half * (sy / n + .5) / h, top]""", x_mm, z_mm, figure)

    def check_reflector(self):
        for k, figure in enumerate(self.state()["figures"]):
            x, z, brightness = self.brightest_near(*REFLECTOR, k)
            assert brightness > 300 and math.hypot(x - REFLECTOR[0], z - REFLECTOR[1]) <= NEAR, (figure["view"], x, z, brightness)

    def type(self, key, text, part):
        field = self.driver.find_element("id", "server-" + key.replace(".", "-") + "-" + part)
        field.send_keys(Keys.CONTROL, "a")
        field.send_keys(Keys.BACKSPACE, text)
        return field

    def click(self, element):
        self.driver.execute_script("document.getElementById(arguments[0]).click()", element)


def axes(state):
    return [[figure["layout"][end] for end in ("x0", "x1", "z0", "z1")] for figure in state["figures"]]


def same(found, expected):
    return all(math.isclose(a, b, abs_tol=1e-6) for one in found for a, b in zip(one, expected))


def edges(first, last, count):
    half = (last - first) / (count - 1) / 2
    return [first - half, last + half]


def check(page):
    # Four figures, each with its name, an image that is not empty, and the same axes.
    state = page.until("four views", lambda s: s["status"] == "live" and len(s["figures"]) == 4 and s["layout"]
                       and all(f["view"] and f["received"] > 3 for f in s["figures"]) and s["server"]["there"])
    assert [f["view"] for f in state["figures"]] == VIEWS and [f["title"] for f in state["figures"]] == VIEWS, state
    assert [f["stream"] for f in state["figures"]] == [f"echoform/{view}" for view in VIEWS], state
    assert all(f["peak"] > 0 for f in state["figures"]) and state["grid"] == [2, 2] and state["faults"] == 0, state
    assert same(axes(state), edges(-6, 6, 41) + edges(-1, 12, 45)), axes(state)
    assert len({(round(f["layout"]["x"]), round(f["layout"]["y"])) for f in state["figures"]}) == 4, state
    assert len({round(f["layout"]["w"], 3) for f in state["figures"]}) == 1, "one scale"
    assert all(view in page.driver.find_element("id", "figure").get_attribute("aria-label") for view in VIEWS)
    os.makedirs(SCREENSHOTS, exist_ok=True)
    page.screenshot(os.path.join(SCREENSHOTS, "views-four.png"))

    # Outlines: the elements where the configuration puts them, points of the cylinder on its circle, the backwall's ends.
    for figure in state["figures"]:
        lines = {line["name"]: line for line in figure["outlines"]}
        assert sorted(lines) == sorted(figure["drawn"]) == ["backwall", "probe", "surface"], figure
        assert len(lines["probe"]["x"]) == ELEMENTS and all(abs(z * 1e3 + STAND_OFF) < 1e-4 for z in lines["probe"]["z"]), lines
        assert abs(lines["probe"]["x"][0] * 1e3 + (ELEMENTS - 1) / 2 * PITCH) < 1e-4, lines
        surface = lines["surface"]
        assert 8 <= len(surface["x"]) <= 256
        assert all(abs(math.hypot(x * 1e3, z * 1e3 - RADIUS) - RADIUS) < RADIUS * 1e-3 for x, z in zip(surface["x"], surface["z"])), surface
        assert all(abs(z - 0.011) < 1e-7 for z in lines["backwall"]["z"]), lines
    # They are drawn, in white where surfaces are, and go when they are switched off.
    page.set("map", "inferno", "change")
    depth = RADIUS - math.sqrt(RADIUS**2 - 4**2)
    for k in range(4):
        assert min(page.brightest_at(-4, depth, k)) > 180, (k, page.brightest_at(-4, depth, k))
    page.click("overlay")
    state = page.until("no outlines", lambda s: not any(f["drawn"] for f in s["figures"]))
    for k in range(4):
        assert min(page.brightest_at(-4, depth - 0.6, k)) < 120, (k, page.brightest_at(-4, depth - 0.6, k))
    # Without them the brightest hereabouts is the reflector, where it is, in every view.
    page.set("range", 60)
    page.check_reflector()
    page.click("overlay")
    page.until("outlines again", lambda s: all(len(f["drawn"]) == 3 for f in s["figures"]))
    page.set("map", "viridis", "change")

    # The whole set-up: the axes reach up to the probe.
    page.click("whole")
    state = page.until("the probe is within the axes", lambda s: all(f["layout"]["z0"] < -STAND_OFF for f in s["figures"]))
    assert page.brightest_at(-PITCH / 2, -STAND_OFF, 2)[2] > 180, "an element in the accent colour"
    page.screenshot(os.path.join(SCREENSHOTS, "views-whole.png"))
    page.click("whole")
    page.until("the image's axes again", lambda s: same(axes(s), edges(-6, 6, 41) + edges(-1, 12, 45)))

    # The cursor, put in one figure, reads the same place in all: dB relative to one reference, and amplitudes.
    page.click("pause")
    state = page.until("paused", lambda s: s["paused"])
    peaks = [f["peak"] for f in state["figures"]]
    page.point(1.2, 6.0, 3)
    cursor = page.state()["cursor"]
    assert abs(cursor["x"] - 1.2) < 0.16 and abs(cursor["z"] - 6.0) < 0.16, cursor
    assert [v["view"] for v in cursor["values"]] == VIEWS, cursor
    assert all(0 <= v["linear"] <= peak * 1.0001 for v, peak in zip(cursor["values"], peaks)), (cursor, peaks)
    lit = [v for v in cursor["values"] if v["linear"] > 0]
    assert lit, cursor
    references = [v["linear"] / 10 ** (v["decibels"] / 20) for v in lit]
    assert max(references) / min(references) < 1.0001, references
    text = page.text("cursor")
    assert all(view in text for view in VIEWS) and text.count("dB") == 4 and "mm" in text, text
    page.screenshot(os.path.join(SCREENSHOTS, "views-cursor.png"))
    page.driver.find_element("id", "figure").send_keys(Keys.ARROW_RIGHT)
    moved = page.state()["cursor"]
    assert abs(moved["x"] - cursor["x"] - 0.3) < 1e-6 and moved["z"] == cursor["z"], (moved, cursor)
    page.click("pause")
    page.until("resumed", lambda s: s["status"] == "live")

    # The grid moves while frames run, by the panel: all four follow, and no image is damaged.
    page.type("grid.x", "-3", "first")
    page.type("grid.x", "5", "last")
    page.type("grid.z", "10", "last").send_keys(Keys.ENTER)
    state = page.until("four figures with the new axes", lambda s: s["server"]["revision"] == 2 and all(f["revision"] == 2 for f in s["figures"])
                       and same(axes(s), edges(-3, 5, 41) + edges(-1, 10, 45)))
    assert state["faults"] == 0 and not state["server"]["reason"] and all(f["peak"] > 0 for f in state["figures"]), state
    page.click("overlay")
    page.until("no outlines", lambda s: not any(f["drawn"] for f in s["figures"]))
    page.driver.execute_script("document.getElementById('figure').dispatchEvent(new PointerEvent('pointerleave'))")  # its cross is bright too
    page.check_reflector()
    page.click("overlay")

    # Which views are shown is chosen here; which are made, by the panel: the page follows.
    page.click("view-LT")
    page.click("view-TL")
    state = page.until("two views", lambda s: [f["view"] for f in s["figures"]] == ["LL", "TT"] and s["status"] == "live"
                       and all(f["received"] > 0 for f in s["figures"]))
    assert state["grid"] in ([2, 1], [1, 2]), state["grid"]
    page.screenshot(os.path.join(SCREENSHOTS, "views-two.png"))
    page.click("view-LT")
    page.click("view-TL")
    page.until("four views again", lambda s: [f["view"] for f in s["figures"]] == VIEWS and all(f["received"] > 0 for f in s["figures"]))
    page.driver.find_element("id", "server-imaging").find_element("tag name", "summary").click()

    def make(names):
        field = page.driver.find_element("id", "server-imaging-views")
        field.send_keys(Keys.CONTROL, "a")
        field.send_keys(Keys.BACKSPACE, names, Keys.ENTER)

    # Of more than four the first four, until others are ticked.
    make("TL, LT, TT, LL, TT-T")
    page.until("four of five", lambda s: [f["view"] for f in s["figures"]] == ["TL", "LT", "TT", "LL"] and all(f["received"] > 0 for f in s["figures"]))
    assert "4 of 5" in page.text("viewsNote") and not page.driver.find_element("id", "view-TT-T").is_enabled()
    page.click("view-LT")
    page.click("view-TT-T")
    page.until("four others", lambda s: [f["view"] for f in s["figures"]] == ["TL", "TT", "LL", "TT-T"] and all(f["received"] > 0 for f in s["figures"]))

    # Display streams of the same views have no linear amplitude; one stream alone is one figure.
    page.set("stream", "*.display", "change")
    page.until("display streams", lambda s: [f["stream"] for f in s["figures"]] == [f"echoform/{v}.display" for v in ("TL", "TT", "LL", "TT-T")]
               and all(f["received"] > 0 for f in s["figures"]))
    page.point(1.0, 6.0, 1)
    assert all(v["linear"] is None and v["decibels"] <= 0 for v in page.state()["cursor"]["values"]), page.state()["cursor"]
    page.set("stream", "echoform/TT-T", "change")
    page.until("one stream", lambda s: [f["stream"] for f in s["figures"]] == ["echoform/TT-T"] and s["figures"][0]["received"] > 0)
    assert not page.driver.find_element("id", "viewsField").is_displayed()
    page.set("stream", "*", "change")
    page.until("all views again", lambda s: len(s["figures"]) == 4 and all(f["received"] > 0 for f in s["figures"]))

    # A snapshot holds all of them.
    data = page.driver.execute_async_script(
        """const done = arguments[0], create = URL.createObjectURL;
           URL.createObjectURL = blob => { blob.arrayBuffer().then(b => done(Array.from(new Uint8Array(b)))); return create(blob); };
           document.getElementById('snapshot').click()""")
    pathlib.Path(SCREENSHOTS, "views-snapshot.png").write_bytes(bytes(data))
    assert struct.unpack(">II", bytes(data[16:24])) == (2000, 1500), data[:24]
    page.driver.set_window_size(700, 1100)
    page.until("still live when narrow", lambda s: s["status"] == "live")
    page.screenshot(os.path.join(SCREENSHOTS, "views-narrow.png"))
    page.driver.set_window_size(1280, 1000)

    make("TT")
    page.until("one view", lambda s: [f["view"] for f in s["figures"]] == ["TT"] and s["stream"] == "echoform" and s["status"] == "live"
               and s["figures"][0]["received"] > 0)

    errors = [entry for entry in page.driver.get_log("browser") if entry["level"] == "SEVERE"]
    assert not errors, errors


def main():
    run_live(PROGRAM, SCREENSHOTS, "views", CONFIG, CONFIG, 10, lambda driver, places: check(Views(driver)))


if __name__ == "__main__":
    main()
