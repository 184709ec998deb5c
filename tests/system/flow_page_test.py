"""Flow on the viewer page: over the grey image of the same frame a disk that turns is red where it moves towards the probe and blue where it
moves away, up to a threshold, between colour bars of dB and m/s; the streams by themselves are as ever. Nothing lies over volumes."""
import os
import sys

from viewer_page import LOOPBACK_DOORS, Page, run_live

PROGRAM, SCREENSHOTS = sys.argv[1:3]
DEPTH, TURNS = 12.0, 12.0  # mm, a second; from +z towards +x: at x > 0 towards the probe
CONFIG = f"""
[imaging]
method = "beams"
backend = "cpu"
threads = 1
[material]
longitudinal_velocity = 1540.0
[beams]
depth = [0.006, 0.018]
path = "iq"
[doppler]
pulse_repetition = 4000.0
[filter]
kind = "none"
[simulator]
elements = 32
pitch = 0.3e-3
element_width = 0.27e-3
samples = 512
sample_rate = 20e6
centre_frequency = 5e6
cycle_frames = 2
transmit = "beams"
aperture = 16
receive_aperture = 16
events = 9
origins = [-0.0024, 0.0024]
focus = 0.012
repeats = 8
pulse_repetition = 4000.0
longitudinal_velocity = 1540.0
scatterers = 3000
speckle_x = [-0.006, 0.006]
speckle_z = [0.004, 0.020]
disks = [[0.0, {DEPTH / 1e3}, 0.004, {TURNS}, 0]]
points = [[0.0, 0.007, 0.5]]
{LOOPBACK_DOORS}"""

VOLUME = f"""
[imaging]
backend = "cpu"
threads = 1
[material]
longitudinal_velocity = 1540.0
[grid]
x = [-0.003, 0.003]
y = [-0.003, 0.003]
z = [0.006, 0.014]
pixels = [17, 13, 41]
[doppler]
pulse_repetition = 4000.0
wall_filter = "none"
[simulator]
elements = 4
pitch = 0.6e-3
rows = 4
row_pitch = 0.6e-3
samples = 512
sample_rate = 20e6
centre_frequency = 2.5e6
cycle_frames = 2
transmit = "plane"
events = 1
angles = [0, 0]
repeats = 4
longitudinal_velocity = 1540.0
points = [[0.0, 0.0, 0.010, 1.0]]
{LOOPBACK_DOORS}"""


def place_cursor(page, across, down):
    page.driver.execute_script(
        """const p = window.echoform.place(arguments[0], arguments[1]), f = document.getElementById('figure'), b = f.getBoundingClientRect();
           f.dispatchEvent(new PointerEvent('pointermove', {clientX: b.left + p.x, clientY: b.top + p.y}))""", across, down)


def flow_of(state):
    return state["figures"][0]["flow"]


def check_overlay(page):
    state = page.until("flow over the lines", lambda s: flow_of(s) and flow_of(s)["pixels"] > 100)
    assert state["stream"] == "echoform/lines.display" and len(state["figures"]) == 1, state
    # c PRF / (4 f), told by the image itself.
    assert abs(flow_of(state)["limit"] - 1540.0 * 4000.0 / (4 * 5e6)) < 1e-6, state
    for _ in range(20):
        state = page.state()
        assert flow_of(state)["sequence"] == state["sequence"], state
    assert min(state["ticks"]["flow"]) == -max(state["ticks"]["flow"]) and 0.2 < max(state["ticks"]["flow"]) < 0.31, state
    assert max(state["ticks"]["bar"]) == 0, state

    # x across, z down. The point does not move.
    def sides():
        towards = [page.colour(1.8, DEPTH + k) for k in (-1, -0.5, 0, 0.5, 1)]
        away = [page.colour(-1.8, DEPTH + k) for k in (-1, -0.5, 0, 0.5, 1)]
        return sum(r > b for r, _, b in towards), sum(b > r for r, _, b in away)

    page.until("red towards the probe, blue away from it", lambda s: min(sides()) >= 4)
    os.makedirs(SCREENSHOTS, exist_ok=True)
    page.screenshot(os.path.join(SCREENSHOTS, "flow-overlay.png"))
    grey = page.colour(0.0, 7.0)
    assert max(grey) - min(grey) <= 2 and grey[0] > 60, grey
    place_cursor(page, 1.8, DEPTH)
    page.until("dB and m/s", lambda s: "m/s" in page.text("cursor") and "dB" in page.text("cursor"))

    # Frozen: both are of one frame in the past too, and the threshold has effect on it.
    page.driver.execute_script("document.getElementById('pause').click()")
    page.until("frozen", lambda s: s["paused"])
    page.driver.execute_script("document.getElementById('loopBack').click()")
    counts = []
    for threshold in (-40, -20, -6):
        page.set("flowThreshold", threshold)
        state = page.state()
        assert flow_of(state)["sequence"] == state["sequence"], state
        counts.append(flow_of(state)["pixels"])
    assert counts[0] > counts[1] > counts[2] > 0, counts
    page.set("flowThreshold", -30)
    page.set("flow", "power", "change")
    state = page.state()
    assert min(state["ticks"]["flow"]) == -30 and max(state["ticks"]["flow"]) == 0, state
    page.driver.execute_script("document.getElementById('pause').click()")
    page.until("power", lambda s: s["status"] == "live" and flow_of(s) and all(r > b for r, _, b in [page.colour(x, DEPTH) for x in (-1.8, 1.8)]))
    page.screenshot(os.path.join(SCREENSHOTS, "flow-power.png"))
    page.set("flow", "none", "change")
    page.until("none", lambda s: s["status"] == "live" and s["received"] > 3 and flow_of(s) is None and s["ticks"]["flow"] is None)
    page.set("flow", "velocity", "change")
    page.until("velocities again", lambda s: s["status"] == "live" and flow_of(s) and flow_of(s)["pixels"] > 100)


def check(page):
    state = page.until("live", lambda s: s["status"] == "live" and s["received"] > 3 and s["server"]["there"] and s["layout"])
    assert state["faults"] == 0, state
    check_overlay(page)
    page.set("stream", "echoform/velocity", "change")
    page.until("velocities", lambda s: s["stream"] == "echoform/velocity" and s["status"] == "live" and s["received"] > 3)

    assert page.state()["figures"][0]["flow"] is None and abs(page.state()["ticks"]["bar"][-1] - 0.3) < 1e-9, page.state()

    # Range across, lines down. Speckle is chance: the middle of some pixels on either side tells.
    def sides():
        towards = [page.colour(DEPTH + k, 1.8) for k in (-1, -0.5, 0, 0.5, 1)]
        away = [page.colour(DEPTH + k, -1.8) for k in (-1, -0.5, 0, 0.5, 1)]
        return sum(r > b for r, _, b in towards), sum(b > r for r, _, b in away)

    page.until("red towards the probe, blue away from it", lambda s: min(sides()) >= 4)
    os.makedirs(SCREENSHOTS, exist_ok=True)
    page.screenshot(os.path.join(SCREENSHOTS, "flow.png"))
    place_cursor(page, DEPTH, 1.8)
    text = page.text("cursor")
    assert "m/s" in text and "dB" not in text, text

    page.set("stream", "echoform/lines.display", "change")
    page.until("the lines", lambda s: s["stream"] == "echoform/lines.display" and s["status"] == "live" and s["received"] > 3)
    place_cursor(page, 0.0, 7.0)
    text = page.text("cursor")
    assert "dB" in text and "m/s" not in text, text
    errors = [entry for entry in page.driver.get_log("browser") if entry["level"] == "SEVERE"]
    assert not errors, errors


def check_volume(page):
    state = page.until("live", lambda s: s["status"] == "live" and s["received"] > 3 and s["layout"])
    assert len(state["figures"]) == 3 and all(figure["flow"] is None for figure in state["figures"]), state
    assert state["faults"] == 0 and state["ticks"]["flow"] is None and not page.shown("flowField"), state
    page.set("stream", "echoform/velocity", "change")
    state = page.until("velocities", lambda s: s["stream"] == "echoform/velocity" and s["status"] == "live" and s["received"] > 3)
    assert len(state["figures"]) == 3 and abs(state["ticks"]["bar"][-1]) <= 1540.0 * 4000.0 / (4 * 2.5e6), state
    errors = [entry for entry in page.driver.get_log("browser") if entry["level"] == "SEVERE"]
    assert not errors, errors


if __name__ == "__main__":
    run_live(PROGRAM, SCREENSHOTS, "flow", CONFIG, CONFIG, 10, lambda driver, places: check(Page(driver)))
    run_live(PROGRAM, SCREENSHOTS, "flow-volume", VOLUME, VOLUME, 10, lambda driver, places: check_volume(Page(driver)))
