"""Optoacoustic tomography on the viewer page: balls within a ring at their places, the speed of sound turned by its slider until they are
sharp, and a ball within a sphere of detectors in the three planes of a volume. Pressures have their sign, saturations go from 0 to 1, and
what has no value is apart, in streams of numbers and of 8 bits."""
import os
import re
import sys

from viewer_page import LOOPBACK_DOORS, Page, near, run_live
from volume_page_test import Volume

PROGRAM, SCREENSHOTS = sys.argv[1:3]
STRONG, WEAK = (-3.0, 2.0), (2.5, -3.5)  # mm, of the ring's plane
RIGHT, WRONG = 1500.0, 1455.0  # m/s
RING = f"""
[imaging]
method = "tomography"
backend = "cpu"
threads = 1
[grid]
x = [-0.006, 0.006]
z = [-0.006, 0.006]
pixels = [61, 61]
[filter]
kind = "none"
[detectors]
kind = "ring"
count = 96
radius = 20e-3
[simulator]
longitudinal_velocity = {RIGHT}
samples = 640
sample_rate = 20e6
full_scale = 0.05
noise_rms = 1e-5
blur = 0.3e-3
cycle_frames = 2
balls = [[{STRONG[0] / 1e3}, 0.0, {STRONG[1] / 1e3}, 0.6e-3, 1.0], [{WEAK[0] / 1e3}, 0.0, {WEAK[1] / 1e3}, 0.6e-3, 0.6]]
[material]
longitudinal_velocity = """
PIXEL = 0.2  # mm

BALL = {"x": 1.0, "y": -1.5, "z": 2.0}  # mm
VOXEL = 0.25
SPHERE = f"""
[imaging]
method = "tomography"
backend = "cpu"
threads = 1
[material]
longitudinal_velocity = {RIGHT}
[grid]
x = [-0.003, 0.003]
y = [-0.003, 0.003]
z = [-0.003, 0.003]
pixels = [25, 25, 25]
[filter]
kind = "none"
[detectors]
kind = "sphere"
rows = 10
count = 20
radius = 20e-3
[simulator]
samples = 512
sample_rate = 20e6
full_scale = 0.05
noise_rms = 1e-5
blur = 0.4e-3
cycle_frames = 2
balls = [[{BALL["x"] / 1e3}, {BALL["y"] / 1e3}, {BALL["z"] / 1e3}, 0.5e-3, 1.0]]
{LOOPBACK_DOORS}"""


BLOOD = f"""
[imaging]
method = "tomography"
backend = "cpu"
threads = 1
[material]
longitudinal_velocity = {RIGHT}
[grid]
x = [-0.006, 0.006]
z = [-0.006, 0.006]
pixels = [61, 61]
[filter]
kind = "none"
[tomography]
wavelengths = [750e-9, 850e-9]
[unmixing]
components = ["HbO2", "Hb"]
threshold = 0.3
[detectors]
kind = "ring"
count = 64
radius = 20e-3
[simulator]
longitudinal_velocity = {RIGHT}
samples = 640
sample_rate = 20e6
full_scale = 0.05
noise_rms = 0.0
blur = 0.3e-3
cycle_frames = 1
wavelengths = [750e-9, 850e-9]
balls = [[{STRONG[0] / 1e3}, 0.0, {STRONG[1] / 1e3}, 0.8e-3, 1.0], [{WEAK[0] / 1e3}, 0.0, {WEAK[1] / 1e3}, 0.8e-3, 1.0]]
ball_saturations = [0.9, 0.3]
{LOOPBACK_DOORS}"""


def no_errors(page):
    errors = [entry for entry in page.driver.get_log("browser") if entry["level"] == "SEVERE"]
    assert not errors, errors


def check_ring(page):
    state = page.until("live", lambda s: s["status"] == "live" and s["received"] > 3 and s["server"]["there"] and s["layout"])
    # Pressures as they are: red above 0, blue below.
    assert state["stream"] == "echoform" and state["faults"] == 0, state
    page.driver.execute_script("document.getElementById('overlay').click()")
    # At a wrong speed a ball is smeared over a ring of 3 % of the way to the detectors, 0.6 mm. Turned to the right one it is a ball again.
    slider = "server-material-longitudinal_velocity-slider"
    low, high = page.driver.execute_script("const e = document.getElementById(arguments[0]); return [Number(e.min), Number(e.max)]", slider)
    assert low < WRONG < RIGHT < high, (low, high)
    os.makedirs(SCREENSHOTS, exist_ok=True)
    page.screenshot(os.path.join(SCREENSHOTS, "tomography-wrong-speed.png"))
    said = lambda: page.driver.execute_script("return document.getElementById('sharpness').textContent")
    page.until("a sharpness", lambda s: re.fullmatch(r"sharpness [\d.]+", said()))
    wrong = float(said().split()[1])
    page.set(slider, RIGHT)
    page.set(slider, RIGHT, "change")
    page.until("the right speed", lambda s: s["server"]["values"]["material.longitudinal_velocity"] == f"{RIGHT:g}" and s["status"] == "live"
               and not s["server"]["busy"] and not s["server"]["staged"])
    page.until("red in both", lambda s: all(r > b + 40 for r, _, b in (page.colour(*STRONG), page.colour(*WEAK))))
    page.until("a greater sharpness, the best so far", lambda s: (found := re.fullmatch(r"sharpness ([\d.]+)", said())) and float(found[1]) > 1.2 * wrong)
    page.screenshot(os.path.join(SCREENSHOTS, "tomography-pressures.png"))
    # The same in 8 bits.
    page.set("stream", "echoform.display", "change")
    page.until("levels of pressures", lambda s: s["stream"] == "echoform.display" and s["status"] == "live" and s["received"] > 3)
    page.until("the stronger ball at its place", lambda s: near(page.brightest(), STRONG, PIXEL))
    page.until("red in both again", lambda s: all(r > b + 40 for r, _, b in (page.colour(*STRONG), page.colour(*WEAK))))
    assert sum(page.colour(*WEAK)) > sum(page.colour(WEAK[0], WEAK[1] + 2.5)), "the weaker one stands out too"
    low, high = (page.state()["ticks"]["bar"][k] for k in (0, -1))
    assert low == -high < 0, page.state()["ticks"]
    page.screenshot(os.path.join(SCREENSHOTS, "tomography.png"))
    assert page.state()["server"]["reason"] == "" and page.state()["faults"] == 0, page.state()
    no_errors(page)


def colour_in(page, figure, across, down):
    """Of a plane of a volume, at a place in mm."""
    return page.driver.execute_script(
        """const l = window.echoform.state().figures[arguments[0]].layout, r = devicePixelRatio, mm = l.w / (l.x1 - l.x0);
           const x = Math.round((l.x + (arguments[1] - l.x0) * mm) * r), y = Math.round((l.y + (arguments[2] - l.z0) * mm) * r);
           return [...document.getElementById('figure').getContext('2d').getImageData(x, y, 1, 1).data].slice(0, 3)""", figure, across, down)


def check_sphere(page):
    state = page.until_planes()
    assert state["faults"] == 0, state
    page.set("stream", "echoform.display", "change")
    page.until("pressures", lambda s: s["stream"] == "echoform.display" and s["status"] == "live" and s["received"] > 3 and len(s["figures"]) == 3)
    page.driver.execute_script("document.getElementById('overlay').click()")
    for axis, place in BALL.items():
        page.set(f"slice-{axis}", round((place + 3.0) / VOXEL))
    for name, axes in (("C-scan", "xy"), ("B-scan", "xz"), ("D-scan", "yz")):
        figure = [f["plane"] for f in page.state()["figures"]].index(name)
        across, down = (BALL[axis] for axis in axes)

        def red(x, y):
            r, _, b = colour_in(page, figure, x, y)
            return r > b + 40

        # A ball of half a millimetre, beside the lines of the slices, which cross in its middle.
        page.until(f"the ball in the {name}", lambda s: red(across + 0.2, down + 0.2) and
                   not any(red(across + x, down + y) for x in (-0.9, 0.9) for y in (-0.9, 0.9)))
    page.screenshot(os.path.join(SCREENSHOTS, "tomography-volume.png"))
    no_errors(page)


def check_blood(page):
    page.until("live", lambda s: s["status"] == "live" and s["received"] > 2 and s["server"]["there"] and s["layout"])
    page.driver.execute_script("document.getElementById('overlay').click()")
    # Several quantities at once: a bar for each.
    page.until("bars of pressure and of concentration", lambda s: s["status"] == "live" and s["ticks"] and
               [bar["label"].split(" [")[0] for bar in s["ticks"]["bars"]] == ["initial pressure", "concentration"])
    os.makedirs(SCREENSHOTS, exist_ok=True)
    page.screenshot(os.path.join(SCREENSHOTS, "tomography-several.png"))
    for stream in ("echoform/saturation", "echoform/saturation.display"):
        page.set("stream", stream, "change")
        state = page.until("saturations", lambda s: s["stream"] == stream and s["status"] == "live" and s["received"] > 2 and s["ticks"]
                           and [bar["label"] for bar in s["ticks"]["bars"]] == ["oxygen saturation"])
        assert state["ticks"]["bar"][0] == 0 and abs(state["ticks"]["bar"][-1] - 1) < 1e-9, state["ticks"]
        assert page.hatched(0.0, 5.0), page.colour(0.0, 5.0)
        (_, green, _), (_, less_green, _) = page.colour(*STRONG), page.colour(*WEAK)
        assert green > less_green + 40 and not page.hatched(*STRONG) and not page.hatched(*WEAK), (green, less_green)
        texts = []
        for x, z in ((0.0, 5.0), STRONG):
            page.driver.execute_script(
                """const p = window.echoform.place(arguments[0], arguments[1]), f = document.getElementById('figure'), b = f.getBoundingClientRect();
                   f.dispatchEvent(new PointerEvent('pointermove', {clientX: b.left + p.x, clientY: b.top + p.y}))""", x, z)
            texts.append(page.text("cursor"))
        assert "no value" in texts[0] and re.search(r"0\.[89]\d*", texts[1]) and "dB" not in "".join(texts), texts
        page.screenshot(os.path.join(SCREENSHOTS, f"tomography-{stream.split('/')[1]}.png"))
    no_errors(page)


if __name__ == "__main__":
    text = f"{RING}{WRONG}\n{LOOPBACK_DOORS}"
    run_live(PROGRAM, SCREENSHOTS, "tomography", text, text, 10, lambda driver, places: check_ring(Page(driver)))
    run_live(PROGRAM, SCREENSHOTS, "tomography-saturation", BLOOD, BLOOD, 5, lambda driver, places: check_blood(Page(driver)))
    run_live(PROGRAM, SCREENSHOTS, "tomography-volume", SPHERE, SPHERE, 10, lambda driver, places: check_sphere(Volume(driver)))
