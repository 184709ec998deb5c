"""Images of a simulated MicroPulse on the viewer page, in headless Chromium: the reflector is where it is, and the instrument's gain, rate
and gate are set there while it fires, refusals said in its words."""
import os
import sys

from control_page_test import Panel
from viewer_page import LOOPBACK_DOORS, near, run_live

from selenium.webdriver.common.keys import Keys

PROGRAM, SCREENSHOTS = sys.argv[1:3]
X, Z = 3.0, 12.0  # mm
INSTRUMENT = f"""
[material]
longitudinal_velocity = 6320.0
[grid]
x = [-0.008, 0.008]
z = [0.006, 0.018]
pixels = [81, 61]
[imaging]
backend = "cpu"
threads = 1
[simulator]
elements = 16
points = [[{X / 1e3}, {Z / 1e3}, 1.0]]
holes = []
cycle_frames = 1
[input.micropulse]
connect = "{{instrument}}"
elements = 16
pitch = 0.6e-3
samples = 400
gain = 40.0
pulse_repetition = 400
reset_wait = 0.0
"""


def check(page):
    state = page.until("live, with the server's settings", lambda s: s["status"] == "live" and s["received"] > 10 and s["server"]["there"])
    # Pixels are 0.2 mm apart; a wavelength is 1.3 mm.
    assert near(page.brightest(), (X, Z), 0.3), (page.brightest(), state)
    page.driver.find_element("id", "server-input-micropulse").find_element("tag name", "summary").click()
    shown = [page.shown_value(key) for key in ("gain", "pulse_repetition", "samples", "gate_start")]
    assert shown == ["40", "400", "400", "0"], shown

    # Six decibels less, then a twentieth of the rate. Each has effect at once.
    fast = page.until("its rate", lambda s: s["imagesPerSecond"] > 6)["imagesPerSecond"]
    page.set_value("gain", "34")
    state = page.until_revision(state["server"]["revision"] + 1)
    assert state["server"]["values"]["input.micropulse.gain"] == "34", state
    page.set_value("pulse_repetition", "20")
    state = page.until_revision(state["server"]["revision"] + 1)
    page.until("the instrument fires at a twentieth of the rate", lambda s: 0 < s["imagesPerSecond"] < 0.5 * fast)

    # What the instrument cannot do is said, nothing changes, and it goes on.
    page.type("input.micropulse.gain", "34.1", end=Keys.ENTER)
    page.until("the reason", lambda s: "gain: found 34.1; expected 0 to 70 dB in steps of 0.25" in s["server"]["reason"])
    page.screenshot(os.path.join(SCREENSHOTS, "micropulse-refused.png"))
    page.field("input.micropulse.gain").send_keys(Keys.ESCAPE)
    assert page.state()["server"]["revision"] == state["server"]["revision"]

    # Another gate is another acquisition: its images show the reflector at the same place.
    page.set_value("pulse_repetition", "400")
    state = page.until_revision(state["server"]["revision"] + 1)
    page.set_value("gate_start", "40")
    state = page.until_revision(state["server"]["revision"] + 1)
    page.set_value("samples", "300")
    state = page.until_revision(state["server"]["revision"] + 1)
    assert "300 samples" in state["server"]["acquisition"], state
    received = state["received"]
    page.until("images by the new gate", lambda s: s["status"] == "live" and s["received"] > received + 3)
    assert near(page.brightest(), (X, Z), 0.3), (page.brightest(), page.state())
    page.screenshot(os.path.join(SCREENSHOTS, "micropulse.png"))
    # The refusal was answered with 422, which the browser logs.
    errors = [entry for entry in page.driver.get_log("browser") if entry["level"] == "SEVERE" and "422" not in entry["message"]]
    assert not errors, errors


class InstrumentPanel(Panel):
    def shown_value(self, key):
        return self.shown(f"input.micropulse.{key}")

    def set_value(self, key, text):
        self.type(f"input.micropulse.{key}", text, end=Keys.ENTER)


if __name__ == "__main__":
    run_live(PROGRAM, SCREENSHOTS, "micropulse", INSTRUMENT + LOOPBACK_DOORS, INSTRUMENT.replace("{instrument}", "127.0.0.1:1067"), None,
             lambda driver, places: check(InstrumentPanel(driver)), instrument="micropulse")
