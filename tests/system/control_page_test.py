"""The viewer page's panel of the server's settings, in headless Chromium, while frames run: by keyboard, with refusals, and beside
another client."""
import os
import subprocess
import sys
import tempfile

from viewer_page import LOOPBACK_DOORS, PATIENCE, Page, run_live

from selenium.webdriver.common.keys import Keys

PROGRAM, SCREENSHOTS = sys.argv[1:3]
CONFIG = """
[material]
longitudinal_velocity = 6320.0
[grid]
x = [-0.004, 0.004]
z = [0.002, 0.010]
pixels = [32, 32]
[imaging]
backend = "cpu"
threads = 1
""" + LOOPBACK_DOORS


def control(places, *words):
    result = subprocess.run([PROGRAM, "--log-level", "warning", "control", "--connect", places["control"], *words], capture_output=True,
                            text=True, timeout=PATIENCE)
    assert result.returncode == 0, result.stderr
    return result.stdout


class Panel(Page):
    def field(self, key, part=""):
        return self.driver.find_element("id", "server-" + key.replace(".", "-") + (f"-{part}" if part else ""))

    def type(self, key, text, part="", end=""):
        field = self.field(key, part)
        field.send_keys(Keys.CONTROL, "a")
        field.send_keys(Keys.BACKSPACE, text, end)

    def shown(self, key, part=""):
        return self.driver.execute_script("return arguments[0].value", self.field(key, part))

    def until_revision(self, revision):
        """The page has an image by these settings, and knows them."""
        return self.until(f"revision {revision}", lambda s: s["revision"] == revision and s["server"]["revision"] == revision
                          and not s["server"]["busy"])


def check(page, places):
    state = page.until("live, with the server's settings", lambda s: s["status"] == "live" and s["server"]["there"])
    assert state["server"]["revision"] == 1 and state["revision"] == 1, state
    assert page.shown("grid.x", "first") == "-4" and page.shown("grid.z", "last") == "10" and page.shown("grid.pixels", "nx") == "32"
    assert page.shown("material.longitudinal_velocity") == "6320"
    assert page.shown("input.drop_policy") == "block_sender"

    # The grid moves by the keyboard alone: gathered until Enter, then put in force together.
    page.type("grid.x", "-3", "first")
    page.type("grid.x", "1", "last")
    page.type("grid.pixels", "20", "nx")
    state = page.state()
    assert sorted(key for key, _ in state["server"]["staged"]) == ["grid.pixels", "grid.x"], state
    assert state["server"]["revision"] == 1
    page.type("grid.pixels", "12", "nz", Keys.ENTER)
    state = page.until_revision(2)
    assert state["server"]["values"]["grid.x"] == "[-0.003, 0.001]" and state["server"]["values"]["grid.pixels"] == "[20, 12]", state
    pixel = 4 / 19
    state = page.until("the figure has the new axes", lambda s: abs(s["layout"]["x0"] - (-3 - pixel / 2)) < 1e-6)
    assert abs(state["layout"]["x1"] - (1 + pixel / 2)) < 1e-6 and state["faults"] == 0, state
    assert not state["server"]["staged"] and not state["server"]["reason"], state

    # The gain has effect at once, without "Apply".
    page.type("output.gain_db", "6", end=Keys.TAB)
    page.until_revision(3)

    # What is refused says why, and nothing changes; Escape takes it back.
    page.type("output.gain_db", "999", end=Keys.ENTER)
    page.until("the reason", lambda s: "found 999; expected a number in dB, -200 to 200" in s["server"]["reason"])
    assert "999" in page.text("serverReason") and page.driver.find_element("id", "serverReason").is_displayed()
    page.screenshot(os.path.join(SCREENSHOTS, "control-refused.png"))
    page.field("output.gain_db").send_keys(Keys.ESCAPE)
    state = page.until("the reason is gone", lambda s: not s["server"]["reason"] and not s["server"]["staged"])
    assert state["server"]["revision"] == 3 and state["status"] == "live", state
    assert page.shown("output.gain_db") == "6"
    # In the unit that was typed, though the server speaks SI.
    page.type("grid.z", "30000", "last", Keys.ENTER)
    page.until("the reason in mm", lambda s: "[grid] z: found 30000 mm; expected two numbers in mm, -10000 to 10000" in s["server"]["reason"])
    page.field("grid.z", "last").send_keys(Keys.ESCAPE)
    page.driver.find_element("id", "server-imaging").find_element("tag name", "summary").click()
    page.type("imaging.views", "LL, TT", end=Keys.ENTER)
    page.until("a missing velocity", lambda s: "shear_velocity: found no value" in s["server"]["reason"])
    page.field("imaging.views").send_keys(Keys.ESCAPE)

    # What is legal and cannot be meant is taken, and told.
    assert not state["server"]["warnings"], state
    page.type("material.longitudinal_velocity", "6.32", end=Keys.ENTER)
    page.until("the warning", lambda s: any("km/s or mm/us, for 6320 m/s?" in line for line in s["server"]["warnings"]))
    warnings = page.driver.find_element("id", "serverWarnings")
    assert warnings.is_displayed()
    # On the image, in sight without scrolling, and not over the figure.
    figure, place = page.driver.find_element("id", "figure").rect, warnings.rect
    assert 0 <= place["y"] and place["y"] + place["height"] <= figure["y"] < 300 and abs(place["width"] - figure["width"]) < 30, (place, figure)
    page.screenshot(os.path.join(SCREENSHOTS, "control-warning.png"))
    page.fits(SCREENSHOTS, "control-warning")
    page.type("material.longitudinal_velocity", "6320", end=Keys.ENTER)
    page.until("no warning", lambda s: not s["server"]["warnings"])
    assert not page.driver.find_element("id", "serverWarnings").is_displayed()
    revision = page.state()["server"]["revision"]

    # What others change is shown.
    page.driver.find_element("id", "map").send_keys("")  # no field of the panel has the focus
    control(places, "set", "output.gain_db=-2", "apodization.window=hann")
    page.until_revision(revision + 1)
    page.until("the other client's gain", lambda s: page.shown("output.gain_db") == "-2")
    assert page.shown("apodization.window") == "hann"
    page.screenshot(os.path.join(SCREENSHOTS, "control-panel.png"))

    page.driver.find_element("id", "serverReset").send_keys(Keys.ENTER)
    state = page.until_revision(revision + 2)
    assert state["server"]["values"]["grid.x"] == "[-0.004, 0.004]" and state["server"]["values"]["output.gain_db"] == "0", state
    page.until("the first axes again", lambda s: abs(s["layout"]["x0"] - (-4 - 8 / 31 / 2)) < 1e-6)

    # What a sink tells of itself.
    page.until("what the recorder tells", lambda s: any(line.startswith("recorder: recording 0, frames_recorded 0,") for line in s["server"]["sinks"]))
    assert page.driver.find_element("id", "serverSinks").is_displayed()

    # Four refusals were answered with 422, which the browser logs.
    errors = [entry for entry in page.driver.get_log("browser") if entry["level"] == "SEVERE" and "422" not in entry["message"]]
    assert not errors, errors


def main():
    with tempfile.TemporaryDirectory() as recordings:
        run_live(PROGRAM, SCREENSHOTS, "control", CONFIG + f'[recorder]\nfolder = "{recordings}"\nat_start = false\n',
                 "[simulator]\nelements = 8\nsamples = 300\ncycle_frames = 4\n", 20, lambda driver, places: check(Panel(driver), places))


if __name__ == "__main__":
    main()
