"""A simulated volume with one point off centre on the viewer page: three planes and their projections show it where it is, a click moves
the slices, the picture in perspective turns, and a change to a plane and back goes without a reload."""
import os
import pathlib
import struct
import sys

from viewer_page import LOOPBACK_DOORS, Page, run_live

from selenium.webdriver.common.keys import Keys

PROGRAM, SCREENSHOTS = sys.argv[1:3]
POINT = {"x": 1.0, "y": 2.0, "z": 10.0}  # mm
PIXEL = 0.25  # mm, along all axes
PLANES = {"C-scan": "xy", "B-scan": "xz", "D-scan": "yz"}
CONFIG = f"""
[material]
longitudinal_velocity = 6320.0
[grid]
x = [-0.004, 0.004]
y = [-0.003, 0.004]
z = [0.006, 0.013]
pixels = [33, 29, 29]
[imaging]
backend = "cpu"
threads = 1
{LOOPBACK_DOORS}[simulator]
elements = 6
rows = 6
pitch = 0.9e-3
row_pitch = 0.9e-3
element_width = 0.4e-3
element_length = 0.4e-3
samples = 400
matrix = "half"
spreading = "spherical"
points = [[{POINT["x"] / 1e3}, {POINT["y"] / 1e3}, {POINT["z"] / 1e3}, 1.0]]
"""
# Centre and number of the pixels of a canvas that have nearly the top colour of viridis, fde725: lines drawn over it are blue or white.
TOP_COLOUR = """
    const centreOfTop = (c, x, y, w, h) => {
      const d = c.getContext('2d').getImageData(x, y, w, h).data;
      let n = 0, sx = 0, sy = 0;
      for (let i = 0; i < w * h; i++) if (d[4*i] > 225 && d[4*i+1] > 215 && d[4*i+2] < 75) { n++; sx += i % w; sy += Math.floor(i / w); }
      return [x + sx / n + .5, y + sy / n + .5, n];
    };"""


class Volume(Page):
    def press(self, across, down, figure, kind="pointerdown"):
        self.driver.execute_script(
            """const p = window.echoform.place(arguments[0], arguments[1], arguments[2]), f = document.getElementById('figure'), b = f.getBoundingClientRect();
               f.dispatchEvent(new PointerEvent(arguments[3], {clientX: b.left + p.x, clientY: b.top + p.y, buttons: arguments[3] === 'pointerdown' ? 1 : 0}))""",
            across, down, figure, kind)

    def top_at(self, figure):
        """Where in mm, across and down, a plane has the top colour; None where it has it nowhere."""
        return self.driver.execute_script(TOP_COLOUR + """
            const l = window.echoform.state().figures[arguments[0]].layout, r = devicePixelRatio, mm = l.w / (l.x1 - l.x0);
            const [x, y, n] = centreOfTop(document.getElementById('figure'), Math.round(l.x * r), Math.round(l.y * r), Math.round(l.w * r), Math.round(l.h * r));
            return n ? [l.x0 + (x / r - l.x) / mm, l.z0 + (y / r - l.y) / mm] : null""", figure)

    def check_point(self):
        for k, (name, axes) in enumerate(PLANES.items()):
            found = self.top_at(k)
            assert found and all(abs(found[i] - POINT[axis]) <= PIXEL for i, axis in enumerate(axes)), (name, found)

    def rendered_top(self):
        """Where the picture in perspective has the top colour and where the point should be, as shares of its width and height."""
        return self.driver.execute_script(TOP_COLOUR + """
            paintScene();
            const from = rendering.canvas, c = document.createElement('canvas');
            c.width = from.width; c.height = from.height;
            c.getContext('2d').drawImage(from, 0, 0);
            const [x, y, n] = centreOfTop(c, 0, 0, c.width, c.height), p = window.echoform.placeInRendering(...arguments);
            return n ? [x / c.width, y / c.height, p.x, p.y] : null""", *POINT.values())

    def field(self, key, part):
        return self.driver.find_element("id", "server-" + key.replace(".", "-") + "-" + part)

    def type(self, key, part, text, end=""):
        field = self.field(key, part)
        field.send_keys(Keys.CONTROL, "a")
        field.send_keys(Keys.BACKSPACE, text, end)

    def shown(self, key, part):
        return self.driver.execute_script("return arguments[0].value", self.field(key, part))

    def click(self, element):
        self.driver.execute_script("document.getElementById(arguments[0]).click()", element)

    def visible(self, element):
        return self.driver.find_element("id", element).is_displayed()

    def until_planes(self):
        return self.until("three planes", lambda s: s["status"] == "live" and [f["plane"] for f in s["figures"]] == list(PLANES)
                          and s["layout"] and s["slices"] and s["server"]["there"])


def near(found, expected):
    return all(abs(found[axis] - place) < 1e-6 for axis, place in expected.items())


def check_rendering(page):
    state = page.until("the volume in perspective, or why not", lambda s: s["rendering"]["state"] in ("ready", "failed"))["rendering"]
    if state["state"] == "failed":
        assert state["reason"] and page.driver.find_element("css selector", "#rendering p").text == state["reason"], state
        print("no picture in perspective here:", state["reason"])
        return
    page.until("a picture", lambda s: s["rendering"]["frames"] > 0)
    # The spot of a point is as wide as some voxels, and seen from aside.
    x, y, x_expected, y_expected = page.rendered_top()
    assert abs(x - x_expected) < 0.04 and abs(y - y_expected) < 0.04, (x, y, x_expected, y_expected)
    page.driver.find_element("css selector", "#rendering canvas").send_keys(Keys.ARROW_RIGHT * 8)
    x, y, x_turned, y_turned = page.rendered_top()
    assert abs(x_turned - x_expected) > 0.05, "it turned"
    assert abs(x - x_turned) < 0.04 and abs(y - y_turned) < 0.04, (x, y, x_turned, y_turned)
    # With the mouse.
    page.driver.execute_script(
        """const c = rendering.canvas, b = c.getBoundingClientRect(), at = (dx, dy) => ({clientX: b.left + b.width / 2 + dx, clientY: b.top + b.height / 2 + dy, button: 0, bubbles: true});
           c.dispatchEvent(new MouseEvent('mousedown', at(0, 0))); document.dispatchEvent(new MouseEvent('mousemove', at(40, 25))); document.dispatchEvent(new MouseEvent('mouseup', at(40, 25)))""")
    x, y, x_dragged, y_dragged = page.rendered_top()
    assert abs(x_dragged - x_turned) + abs(y_dragged - y_turned) > 0.05, "it was dragged"
    assert abs(x - x_dragged) < 0.04 and abs(y - y_dragged) < 0.04, (x, y, x_dragged, y_dragged)
    page.set("rendering-mode", "opacity", "change")
    frames = page.state()["rendering"]["frames"]
    page.until("pictures by opacity", lambda s: s["rendering"]["frames"] > frames)
    page.set("rendering-mode", "maximum", "change")


def check(page):
    # The page takes the 8-bit volumes without being told, and cuts them in the middle.
    page.until_planes()
    state = page.until("8 bits", lambda s: s["stream"] == "echoform.display" and len(s["figures"]) == 3)
    assert state["faults"] == 0, state
    assert near(state["slices"], {"x": 0.0, "y": 0.5, "z": 9.5}), state["slices"]
    scales = [f["layout"]["w"] / (f["layout"]["x1"] - f["layout"]["x0"]) for f in state["figures"]]
    assert max(scales) - min(scales) < 1e-6, "one scale"
    c, b, d = (f["layout"] for f in state["figures"])
    assert abs(c["x"] - b["x"]) < 1e-6 and abs(b["y"] - d["y"]) < 1e-6, "planes in line"
    assert abs(c["z0"] - (-3 - PIXEL / 2)) < 1e-6 and abs(d["x1"] - (4 + PIXEL / 2)) < 1e-6 and abs(d["z1"] - (13 + PIXEL / 2)) < 1e-6, (c, d)
    assert "33 \u00d7 29 \u00d7 29 voxels" in page.text("geometry"), page.text("geometry")
    assert page.shown("grid.y", "first") == "-3" and page.shown("grid.y", "last") == "4", "in mm"
    assert [page.shown("grid.pixels", n) for n in ("nx", "ny", "nz")] == ["33", "29", "29"]

    # Clicks go to the point: each moves the slices of the other two planes.
    page.press(POINT["x"], POINT["y"], 0)
    state = page.state()
    assert near(state["slices"], {"x": 1.0, "y": 2.0, "z": 9.5}), state["slices"]
    assert "y = 2.0 mm" in state["figures"][1]["title"] and "x = 1.0 mm" in state["figures"][2]["title"], state
    page.press(POINT["y"], POINT["z"], 2)
    assert near(page.state()["slices"], POINT), page.state()["slices"]
    page.check_point()
    os.makedirs(SCREENSHOTS, exist_ok=True)
    page.screenshot(os.path.join(SCREENSHOTS, "volume.png"))

    # The cursor reads the plane in which it is, and stands in all of them.
    page.press(POINT["x"], POINT["z"], 1, "pointermove")
    cursor = page.state()["cursor"]
    assert near(cursor, POINT) and len(cursor["values"]) == 1 and -1.0 < cursor["values"][0]["decibels"] <= 0.0, cursor
    assert page.text("cursor").count("mm") == 3 and page.text("cursor").count("dB") == 1, page.text("cursor")
    page.press(-3.0, 12.0, 1, "pointermove")
    assert near(page.state()["slices"], POINT), "a cursor that only points moves nothing"
    assert page.state()["cursor"]["values"][0]["decibels"] < -10

    # By the keyboard: a slider, and arrows and page keys in the figure.
    slider = page.driver.find_element("id", "slice-y")
    slider.send_keys(Keys.ARROW_LEFT)
    assert near(page.state()["slices"], {**POINT, "y": 1.75}) and slider.get_attribute("aria-valuetext") == "1.75 mm", page.state()["slices"]
    slider.send_keys(Keys.ARROW_RIGHT)
    figure = page.driver.find_element("id", "figure")
    page.press(POINT["x"], POINT["y"], 0)
    figure.send_keys(Keys.ARROW_LEFT, Keys.ARROW_DOWN, Keys.PAGE_DOWN)
    assert near(page.state()["slices"], {"x": 0.75, "y": 2.25, "z": 10.25}), page.state()["slices"]

    # Far from the point slices show nothing of it, projections do; a click in one finds where along the axis it is.
    page.press(-3.5, -2.5, 0)
    page.press(-2.5, 12.5, 2)
    page.until("dark slices", lambda s: all(page.top_at(k) is None for k in range(3)))
    page.driver.find_element("tag name", "body").send_keys("p")
    state = page.until("projections", lambda s: all("maximum along" in f["title"] for f in s["figures"]))
    page.check_point()
    page.press(POINT["x"], POINT["y"], 0)
    assert near(page.state()["slices"], {"x": 1.0, "y": 2.0}) and abs(page.state()["slices"]["z"] - 10) <= PIXEL, page.state()["slices"]
    assert "maximum along z" in page.text("cursor"), page.text("cursor")
    page.screenshot(os.path.join(SCREENSHOTS, "volume-projections.png"))
    page.click("maximum-x")
    page.click("maximum-y")
    state = page.until("one projection", lambda s: ["maximum" in f["title"] for f in s["figures"]] == [True, False, False])
    page.check_point()
    page.click("maximum-z")

    check_rendering(page)

    # The envelope shows the same, with amplitudes.
    page.set("stream", "echoform", "change")
    page.until("envelopes", lambda s: s["stream"] == "echoform" and len(s["figures"]) == 3 and s["figures"][0]["peak"] > 0)
    page.press(POINT["x"], POINT["z"], 1)
    page.check_point()
    assert page.state()["cursor"]["values"][0]["linear"] > 0, page.state()["cursor"]
    page.set("stream", "echoform.display", "change")
    page.until("8 bits", lambda s: s["stream"] == "echoform.display" and len(s["figures"]) == 3)

    # A snapshot holds all of it.
    data = page.driver.execute_async_script(
        """const done = arguments[0], create = URL.createObjectURL;
           URL.createObjectURL = blob => { blob.arrayBuffer().then(b => done(Array.from(new Uint8Array(b)))); return create(blob); };
           document.getElementById('snapshot').click()""")
    pathlib.Path(SCREENSHOTS, "volume-snapshot.png").write_bytes(bytes(data))
    assert struct.unpack(">II", bytes(data[16:24])) == (2000, 1500), data[:24]

    # What is refused is told in mm, as it was typed.
    page.type("grid.y", "first", "5")
    page.type("grid.y", "last", "-5", Keys.ENTER)
    reason = page.until("a refusal", lambda s: s["server"]["reason"] and not s["server"]["busy"])["server"]["reason"]
    assert "[grid] y" in reason and "[5, -5] mm" in reason, reason
    page.field("grid.y", "last").send_keys(Keys.ESCAPE)

    # From the volume to a plane of it and back, without a reload. Nobody has chosen a stream: a plane comes as envelope.
    page.driver.execute_script("streamName = ''; window.loadedOnce = true")
    page.type("grid.y", "first", "2")
    page.type("grid.y", "last", "")
    page.type("grid.pixels", "ny", "", Keys.ENTER)
    state = page.until("a plane", lambda s: [f["plane"] for f in s["figures"]] == [""] and s["stream"] == "echoform" and s["status"] == "live"
                       and s["revision"] == 2 and s["server"]["revision"] == 2)
    assert not state["server"]["reason"] and state["slices"] is None and state["faults"] == 0, state
    assert not page.visible("volumeField") and not page.visible("rendering")
    assert page.shown("grid.y", "first") == "2" and page.shown("grid.y", "last") == "" and page.shown("grid.pixels", "ny") == ""
    found = page.top_at(0)
    assert found and abs(found[0] - POINT["x"]) <= PIXEL and abs(found[1] - POINT["z"]) <= PIXEL, found
    page.type("grid.y", "first", "-2")
    page.type("grid.y", "last", "5")
    page.type("grid.pixels", "ny", "29", Keys.ENTER)
    page.until_planes()
    state = page.until("the new axis", lambda s: s["revision"] == 3 and s["stream"] == "echoform.display" and len(s["figures"]) == 3
                       and abs(s["figures"][0]["layout"]["z0"] - (-2 - PIXEL / 2)) < 1e-6)
    assert near(state["slices"], {"x": 1.0, "y": 2.0}), state["slices"]
    page.check_point()
    assert page.visible("volumeField") and page.driver.execute_script("return window.loadedOnce"), "without a reload"

    # A browser without WebGL 2 says so in the place of the picture, and shows the rest.
    page.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": """
        const given = HTMLCanvasElement.prototype.getContext;
        HTMLCanvasElement.prototype.getContext = function (kind, ...rest) { return kind === 'webgl2' ? null : given.call(this, kind, ...rest); };"""})
    page.driver.refresh()
    page.until_planes()
    page.until("the reason", lambda s: s["rendering"]["state"] == "failed" and "WebGL 2" in s["rendering"]["reason"])
    assert "WebGL 2" in page.driver.find_element("css selector", "#rendering p").text
    page.press(POINT["x"], POINT["y"], 0)
    page.press(POINT["x"], POINT["z"], 1)
    page.check_point()

    # The refusal is told in the browser's log as well, and where the program was built without three.js, so is that.
    errors = [entry for entry in page.driver.get_log("browser") if entry["level"] == "SEVERE"
              and not any(expected in entry["message"] for expected in ("three.js", "/control"))]
    assert not errors, errors


def main():
    run_live(PROGRAM, SCREENSHOTS, "volume", CONFIG, CONFIG, 10, lambda driver, places: check(Volume(driver)))


if __name__ == "__main__":
    main()
