// What is turned while one looks: sliders below the fields of some settings, which are applied as they are let go. In what is shown: mm of
// lengths. How far a depth may go the page knows of what it has seen; further is typed.
const turnedSettings = {
  "beams.depth": { part: 1, low: 1, high: 2, step: .5 }, "beams.f_number": { part: 0, low: .5, high: 8, step: .1 },
  // That of the part is known to a few per cent, and images are sharpest at the right one: a twentieth either way of what it is.
  "material.longitudinal_velocity": { part: 0, low: 0, high: 0, step: 1, share: .05 },
};
// First in the panel, in this order: settings, then groups that are changed most often while one looks.
const settingsAtHand = ["beams.depth", "beams.f_number", "beams.time_gain"];
const groupsAtHand = ["output", "material", "beams", "grid", "imaging", "apodization", "tomography", "filter"];
const inPanelOrder = settings => {
  const orElse = (place, count) => place < 0 ? count : place;
  const place = ({ key }) => {
    const group = key.slice(0, key.lastIndexOf("."));
    return orElse(settingsAtHand.indexOf(key), settingsAtHand.length + orElse(groupsAtHand.indexOf(group), groupsAtHand.length));
  };
  return [...settings].sort((a, b) => place(a) - place(b));
};
// Of the velocity that is turned while one looks for the sharpest image: what the server says of the image, and where it was best. It is
// said of settings that two answers in a row had: the first may be of an image from before.
const sharpness = { revision: 0, at: NaN, now: NaN, best: NaN, bestAt: NaN };
function noteSharpness(reply, velocity) {
  const told = (reply.sinks || []).map(line => / sharpness ([-+.e\d]+)/.exec(line)).find(Boolean);
  if (!told || !isFinite(velocity)) return;
  const settled = reply.revision === sharpness.revision;
  Object.assign(sharpness, { revision: reply.revision, at: velocity, now: settled ? Number(told[1]) : NaN });
  if (settled && !(sharpness.now < sharpness.best)) Object.assign(sharpness, { best: sharpness.now, bestAt: velocity });
  // The scene may have changed since.
  if (settled && velocity === sharpness.bestAt) sharpness.best = sharpness.now;
}
const sharpnessText = () => !isFinite(sharpness.best) ? "" :
  `sharpness ${isFinite(sharpness.now) ? tidy(sharpness.now, 3) : "\u2026"}${sharpness.bestAt === sharpness.at ? "" : `; ${tidy(sharpness.best, 3)} at ${tidy(sharpness.bestAt, 6)} m/s`}`;
function makeTurnSlider(setting, inputs) {
  const turned = turnedSettings[setting.key];
  if (!turned) return null;
  const slider = document.createElement("input"), field = inputs[turned.part];
  slider.type = "range"; slider.min = turned.low; slider.max = turned.high; slider.step = turned.step;
  slider.id = field.id + "-slider";
  slider.className = "turn";
  slider.title = field.title;
  slider.setAttribute("aria-label", `${labelOf(setting.key)}${inputs.length > 1 ? ", " + pairNames(setting)[turned.part] : ""}, ${unitOf(setting)}`.replace(/, $/, ""));
  slider.addEventListener("input", () => {
    for (const input of inputs) if (input.value === "" && isFinite(input.placeholder)) input.value = input.placeholder;
    field.value = tidy(Number(slider.value), 7);
    stage(setting.key);
  });
  slider.addEventListener("change", () => applySoon(setting.key));
  // As the field says, or what is in use where it says nothing.
  slider.follow = () => {
    const at = field.value !== "" ? Number(field.value) : parseFloat(field.placeholder);
    if (slider.matches(":active") || !isFinite(at)) return;
    if (turned.share && !(at >= Number(slider.min) && at <= Number(slider.max))) {
      slider.min = Math.floor((1 - turned.share) * at); slider.max = Math.ceil((1 + turned.share) * at);
    }
    if (at > Number(slider.max)) slider.max = slider.step * Math.ceil(at / slider.step);
    slider.value = at;
  };
  return slider;
}
