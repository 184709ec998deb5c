// Gains in a list, as a time gain is: a slider each, in place of the field in which a list is typed. Stands for an input: `value` is the
// list as text, empty where there is none; sliders are then offered all the same, at 0 dB.
const isGainList = setting => setting.type === "list of numbers" && setting.unit === "dB";
const gainsOffered = 8, usualGain = 40, gainStep = 20;
function makeGainSliders(setting) {
  const box = document.createElement("div"), rows = document.createElement("div"), none = document.createElement("button");
  let absent = true;
  box.className = "gains";
  none.textContent = "None";
  none.title = "No gain: an empty list";
  const sliders = () => [...rows.querySelectorAll("input")], gains = () => sliders().map(slider => Number(slider.value));
  const tell = slider => { slider.nextSibling.textContent = `${slider.value > 0 ? "+" : ""}${format(Number(slider.value), 1)}`; };
  function build(count) {
    rows.replaceChildren(...Array.from({ length: count }, (_, k) => {
      const row = document.createElement("div"), slider = document.createElement("input"), text = document.createElement("output");
      slider.type = "range"; slider.step = 0.5;
      slider.id = `${box.id}-${k}`;
      slider.setAttribute("aria-label", `${labelOf(setting.key)} ${k + 1} of ${count}, dB`);
      slider.addEventListener("input", () => { absent = false; tell(slider); });
      row.append(slider, text);
      return row;
    }));
  }
  // Somewhat further than the gains reach, so that each can go on; never beyond what the server takes.
  function span(list) {
    const low = Math.max(setting.low, Math.min(-usualGain, gainStep * (Math.ceil(Math.min(...list) / gainStep) - 1)));
    const high = Math.min(setting.high, Math.max(usualGain, gainStep * (Math.floor(Math.max(...list) / gainStep) + 1)));
    for (const slider of sliders()) { slider.min = low; slider.max = high; }
  }
  Object.defineProperty(box, "value", {
    get: () => absent ? "" : gains().join(", "),
    set: text => {
      const list = text.split(",").filter(part => part.trim() !== "").map(Number);
      absent = list.length === 0;
      const shown = absent ? Array(gainsOffered).fill(0) : list;
      if (sliders().length !== shown.length) build(shown.length);
      if (!rows.querySelector(":active")) span(shown);  // not under the hand that moves one
      sliders().forEach((slider, k) => { slider.value = shown[k]; tell(slider); });
      none.disabled = absent;
    },
  });
  none.addEventListener("click", () => { box.value = ""; box.dispatchEvent(new Event("change")); });
  box.append(rows, none);
  return box;
}
