"""What the page shows as it opens, in any width: probes in their own shape, none over images that no probe is in, and flow over the image
that it was found in."""
import os
import sys

from viewer_page import LOOPBACK_DOORS, Page, run_live

PROGRAM, SCREENSHOTS = sys.argv[1:3]

# Elements on an arc: from x = -9 to 9 mm, and there 3 mm above the middle one.
CURVED = f"""
[imaging]
backend = "cpu"
threads = 1
[material]
longitudinal_velocity = 1540.0
[grid]
x = [-0.010, 0.010]
z = [0.002, 0.020]
pixels = [41, 37]
[simulator]
elements = 32
pitch = 0.6e-3
radius = 0.015
samples = 1024
sample_rate = 20e6
centre_frequency = 2.5e6
cycle_frames = 1
longitudinal_velocity = 1540.0
points = [[0.0, 0.010, 1.0]]
{LOOPBACK_DOORS}"""

BEAMS = f"""
[imaging]
method = "beams"
backend = "cpu"
threads = 1
[material]
longitudinal_velocity = 1540.0
[beams]
depth = [0.0, 0.018]
frame_rate = 10.0
[doppler]
pulse_repetition = 4000.0
[spectrum]
line = 1
gate = [0.008, 0.010]
samples = 8
[m_mode]
line = 1
[filter]
kind = "none"
[simulator]
elements = 24
pitch = 0.3e-3
element_width = 0.27e-3
samples = 512
sample_rate = 20e6
centre_frequency = 5e6
cycle_frames = 2
transmit = "beams"
aperture = 8
receive_aperture = 8
events = 3
origins = [-0.0018, 0.0018]
focus = 0.010
repeats = 8
pulse_repetition = 4000.0
longitudinal_velocity = 1540.0
points = [[0.0, 0.009, 1.0]]
{LOOPBACK_DOORS}"""

WAVES = f"""
[imaging]
backend = "cpu"
threads = 1
[material]
longitudinal_velocity = 1540.0
[grid]
x = [-0.004, 0.004]
z = [0.004, 0.012]
pixels = [41, 41]
[doppler]
pulse_repetition = 4000.0
[filter]
kind = "none"
[simulator]
elements = 16
pitch = 0.3e-3
element_width = 0.27e-3
samples = 512
sample_rate = 20e6
centre_frequency = 5e6
cycle_frames = 2
transmit = "plane"
events = 1
angles = [0, 0]
repeats = 8
pulse_repetition = 4000.0
longitudinal_velocity = 1540.0
scatterers = 1500
speckle_x = [-0.005, 0.005]
speckle_z = [0.003, 0.013]
disks = [[0.0, 0.008, 0.002, 12.0, 0]]
{LOOPBACK_DOORS}"""


def blue_pixels(page, x_mm, z_mm, below=-1):
    """How many pixels have the probe's colour within 7 px of a place across, from 8 px above it to `below` px under it."""
    return page.driver.execute_script(
        """const p = window.echoform.place(arguments[0], arguments[1]), c = document.getElementById('figure'), r = devicePixelRatio;
           const d = c.getContext('2d').getImageData(Math.round((p.x - 7) * r), Math.round((p.y - 8) * r), 14 * r, (8 + arguments[2]) * r).data;
           let n = 0;
           for (let k = 0; k < d.length; k += 4) n += d[k] < 130 && d[k + 1] > 160 && d[k + 2] > 220;
           return n""", x_mm, z_mm, below)


def opened(page):
    return page.until("live", lambda s: s["status"] == "live" and s["received"] > 3 and s["server"]["there"] and s["layout"])


def no_errors(page):
    errors = [entry for entry in page.driver.get_log("browser") if entry["level"] == "SEVERE"]
    assert not errors, errors


def check_curved(page):
    top = opened(page)["layout"]["z0"]
    # The middle elements stand on the image's edge; those at the ends are far above it, and not drawn as a row beside them.
    ends = [blue_pixels(page, x, top) for x in (-8.0, -6.0, 6.0, 8.0)]
    page.screenshot(os.path.join(SCREENSHOTS, "first-sight-curved.png"))
    assert blue_pixels(page, 0.0, top) > 0 and ends == [0, 0, 0, 0], ends
    # With the whole set-up in the axes each is where it is: on the arc.
    page.driver.execute_script("document.getElementById('whole').click()")
    page.until("the whole set-up", lambda s: s["layout"]["z0"] < -3)
    for x in (-8.0, 0.0, 8.0):
        z = (15.0**2 - x**2) ** 0.5 - 15.0
        assert blue_pixels(page, x, z, 8) > 0, x
    page.fits(SCREENSHOTS, "first-sight-curved")
    no_errors(page)


def check_beams(page):
    opened(page)
    drawn = {}
    for view in ("lines", "m_mode", "spectrum"):
        for encoding in ("", ".display"):
            page.set("stream", f"echoform/{view}{encoding}", "change")
            state = page.until(view + encoding, lambda s: s["stream"] == f"echoform/{view}{encoding}" and s["status"] == "live" and s["layout"]
                               and s["received"] > 3 and s["figures"][0]["layout"])
            drawn[view + encoding] = state["figures"][0]["drawn"]
    # Of lines the display image lies as the part does.
    assert drawn == {"lines": [], "lines.display": ["probe"], "m_mode": [], "m_mode.display": [], "spectrum": [], "spectrum.display": []}, drawn
    # Nor is flow laid over what has no place in the part, with a bar that nothing is shown by.
    assert page.state()["figures"][0]["flow"] is None and page.state()["ticks"]["flow"] is None, page.state()
    page.screenshot(os.path.join(SCREENSHOTS, "first-sight-spectrum.png"))
    page.fits(SCREENSHOTS, "first-sight-spectrum")
    no_errors(page)


def check_waves(page):
    opened(page)
    state = page.until("flow over the image", lambda s: s["figures"][0]["flow"] and s["figures"][0]["flow"]["pixels"] > 10)
    assert [figure["view"] for figure in state["figures"]] == ["LL"] and state["ticks"]["flow"], state
    page.screenshot(os.path.join(SCREENSHOTS, "first-sight-flow.png"))
    # Its numbers can be looked at besides, all of them too.
    for view in ("velocity", "power", "variance"):
        page.driver.execute_script("document.getElementById('view-' + arguments[0]).click()", view)
    page.until("four views", lambda s: [figure["view"] for figure in s["figures"]] == ["LL", "velocity", "power", "variance"])
    page.fits(SCREENSHOTS, "first-sight-flow")
    no_errors(page)


if __name__ == "__main__":
    os.makedirs(SCREENSHOTS, exist_ok=True)
    run_live(PROGRAM, SCREENSHOTS, "first-sight-curved", CURVED, CURVED, 10, lambda driver, places: check_curved(Page(driver)))
    run_live(PROGRAM, SCREENSHOTS, "first-sight-beams", BEAMS, BEAMS, 10, lambda driver, places: check_beams(Page(driver)))
    run_live(PROGRAM, SCREENSHOTS, "first-sight-waves", WAVES, WAVES, 10, lambda driver, places: check_waves(Page(driver)))
