"""A sector of scan lines on the viewer page: its display image with axes in mm, range and angle of its envelope, time gain by sliders,
depth by the panel, and the last seconds of a frozen page."""
import math
import os
import sys

from viewer_page import LOOPBACK_DOORS, Page, near, run_live

from selenium.webdriver.common.keys import Keys

PROGRAM, SCREENSHOTS = sys.argv[1:3]
NEAR, DEEP = (-2.0, 9.0), (3.0, 17.0)  # mm, the first of them the brighter
ANGLE = 30.0  # degrees, of the outermost lines
CONFIG = f"""
[imaging]
method = "beams"
backend = "cpu"
threads = 1
[material]
longitudinal_velocity = 1540.0
[filter]
kind = "none"
[output]
dynamic_range_db = 40
[simulator]
elements = 32
pitch = 0.3e-3
element_width = 0.25e-3
samples = 1024
sample_rate = 40e6
centre_frequency = 5e6
cycle_frames = 2
transmit = "plane"
events = 31
angles = [{-ANGLE}, {ANGLE}]
longitudinal_velocity = 1540.0
points = [[{NEAR[0] / 1e3}, {NEAR[1] / 1e3}, 1.0], [{DEEP[0] / 1e3}, {DEEP[1] / 1e3}, 0.6]]
{LOOPBACK_DOORS}"""
# The beam at the deeper point is as wide as the wavelength, 0.31 mm, by its range over the aperture of 9.6 mm: the middle of what is nearly
# as bright as its brightest pixel lies within half of that.
PLACE = 0.5 * 0.31 * math.hypot(*DEEP) / 9.6


class Sector(Page):
    def click(self, element):
        self.driver.execute_script("document.getElementById(arguments[0]).click()", element)

    def type(self, element, text, end=""):
        field = self.driver.find_element("id", element)
        field.send_keys(Keys.CONTROL, "a")
        field.send_keys(Keys.BACKSPACE, text, end)

    def point(self, across, down):
        self.driver.execute_script(
            """const p = window.echoform.place(arguments[0], arguments[1]), f = document.getElementById('figure'), b = f.getBoundingClientRect();
               f.dispatchEvent(new PointerEvent('pointermove', {clientX: b.left + p.x, clientY: b.top + p.y}))""", across, down)

    def read(self, across, down):
        """What the line below tells of a place. The cursor's cross, which is bright too, is taken away again."""
        self.point(across, down)
        text = self.text("cursor")
        self.driver.execute_script("document.getElementById('figure').dispatchEvent(new PointerEvent('pointerleave'))")
        return text


def check(page):
    # The sector, not its lines beside each other: x and z in mm on one scale, the points at their places, blank beside it.
    state = page.until("live", lambda s: s["status"] == "live" and s["received"] > 5 and s["server"]["there"] and s["layout"])
    assert state["stream"] == "echoform.display" and state["faults"] == 0, state
    layout = state["layout"]
    assert abs(layout["w"] / layout["h"] - (layout["x1"] - layout["x0"]) / (layout["z1"] - layout["z0"])) < 0.01, layout
    geometry = page.text("geometry")
    assert "x " in geometry and "z " in geometry and "mm" in geometry and "angle" not in geometry, geometry
    page.click("overlay")
    page.until("the brighter point at its place", lambda s: near(page.brightest(), NEAR, PLACE))
    deepest = layout["z1"]
    corner = page.colour(layout["x0"] + 1, 2)
    assert near(corner, (0, 0, 0), 2), corner  # grey, of scan lines
    os.makedirs(SCREENSHOTS, exist_ok=True)
    page.screenshot(os.path.join(SCREENSHOTS, "sector.png"))
    text = page.read(*DEEP)
    assert text.startswith("x ") and "z " in text and text.count("mm") == 2, text

    # Time gain has no value yet: sliders are there all the same. They have effect at once, as they are moved.
    slider = "server-beams-time_gain-"
    assert page.state()["server"]["values"]["beams.time_gain"] == "[]"
    low, high, count = page.driver.execute_script(
        "const e = document.getElementById(arguments[0]); return [Number(e.min), Number(e.max), e.closest('.gains').querySelectorAll('input').length]", slider + "0")
    assert (low, high, count) == (-40, 40, 8), (low, high, count)
    for k in range(4):
        page.set(f"{slider}{k}", -40)
    page.until("the gains at the server", lambda s: s["server"]["values"]["beams.time_gain"] == "[-40, -40, -40, -40, 0, 0, 0, 0]"
               and not s["server"]["busy"] and not s["server"]["staged"])
    page.until("now the deeper point is the brighter", lambda s: near(page.brightest(), DEEP, PLACE))
    page.screenshot(os.path.join(SCREENSHOTS, "sector-time-gain.png"))
    assert page.driver.execute_script("return document.getElementById(arguments[0]).nextSibling.textContent", slider + "0") == "\u221240.0"
    assert page.state()["server"]["reason"] == "", page.state()
    # There was something further down: the span has grown with what was asked for.
    page.until("further down", lambda s: page.driver.execute_script("return Number(document.getElementById(arguments[0]).min)", slider + "0") == -60)
    page.driver.execute_script("document.getElementById(arguments[0]).closest('.gains').querySelector('button').click()", slider + "0")
    page.until("no gain", lambda s: s["server"]["values"]["beams.time_gain"] == "[]" and not s["server"]["busy"])
    page.until("the nearer point again", lambda s: near(page.brightest(), NEAR, PLACE))

    # The depth, gathered until Enter.
    page.type("server-beams-depth-first", "1")
    page.type("server-beams-depth-last", "12", Keys.ENTER)
    state = page.until("less deep", lambda s: s["layout"]["z1"] < 13 and s["status"] == "live" and not s["server"]["busy"])
    assert state["faults"] == 0 and not state["server"]["reason"] and state["layout"]["z1"] > 11 and deepest > 15, state

    # Depth and aperture by sliders, as they are let go.
    page.set("server-beams-depth-last-slider", 10)
    assert page.state()["server"]["staged"] == [["beams.depth", "[0.001, 0.01]"]], page.state()["server"]
    page.set("server-beams-depth-last-slider", 10, "change")
    page.until("less deep by the slider", lambda s: s["layout"]["z1"] < 11 and s["status"] == "live" and not s["server"]["busy"])
    page.set("server-beams-f_number-slider", 2)
    page.set("server-beams-f_number-slider", 2, "change")
    page.until("a lesser aperture", lambda s: s["server"]["values"]["beams.f_number"] == "2" and s["status"] == "live" and not s["server"]["busy"])
    page.type("server-beams-depth-last", "12", Keys.ENTER)
    page.until("as deep as before", lambda s: s["layout"]["z1"] > 11 and s["status"] == "live" and not s["server"]["busy"])

    # The envelope's own axes: range in mm across, angle in degrees down, each on a scale of its own.
    page.set("stream", "echoform", "change")
    state = page.until("the lines", lambda s: s["stream"] == "echoform" and s["status"] == "live" and s["received"] > 3)
    layout, half = state["layout"], ANGLE / 30  # half of a line's distance
    assert near((layout["z0"], layout["z1"]), (-ANGLE - half, ANGLE + half), 0.01), layout
    assert near((layout["x0"], layout["x1"]), (1, 12), 0.1), layout
    assert layout["w"] > 300 and layout["h"] > 300, "both fill their room"
    range_, angle = math.hypot(*NEAR), math.degrees(math.atan2(*NEAR))
    page.until("the point by its range and angle", lambda s: near(page.brightest(), (range_, angle), 2 * half))
    text = page.read(range_, angle)
    assert text.startswith("range ") and "angle " in text and "\u00b0" in text, text
    page.screenshot(os.path.join(SCREENSHOTS, "sector-lines.png"))

    # Frozen: the last seconds hold images of before.
    page.set("stream", "echoform.display", "change")
    page.until("the sector again", lambda s: s["stream"] == "echoform.display" and s["status"] == "live" and s["loop"]["count"] > 3)
    page.click("pause")
    state = page.until("frozen", lambda s: s["paused"] and page.shown("loop"))
    page.click("loopBack")
    assert page.state()["sequence"] < state["sequence"] and page.state()["loop"]["at"] == state["loop"]["at"] - 1, page.state()
    page.screenshot(os.path.join(SCREENSHOTS, "sector-frozen.png"))
    page.click("pause")
    page.until("live again", lambda s: s["status"] == "live" and s["sequence"] > state["sequence"])

    errors = [entry for entry in page.driver.get_log("browser") if entry["level"] == "SEVERE"]
    assert not errors, errors


if __name__ == "__main__":
    run_live(PROGRAM, SCREENSHOTS, "sector", CONFIG, CONFIG, 10, lambda driver, places: check(Sector(driver)))
