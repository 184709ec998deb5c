// The server's settings: controls built from what POST /control says of them. What changes at once is sent as it is changed; what
// needs a new engine is gathered until "Apply" (Enter), and goes together. Lengths are shown in mm, times in us.
const server = { revision: 0, settings: new Map(), staged: new Map(), due: new Set(), reason: "", acquisition: "", warnings: [], sinks: [], busy: false, there: false };
const groupTitles = { material: "Velocities", couplant: "Couplant", surface: "Front surface", backwall: "Backwall", probe: "Probe", grid: "Grid", imaging: "Imaging", apodization: "Apodization", output: "Output", display: "Display grid", scan: "Scan", acquisition: "Timing", input: "Input", "input.micropulse": "MicroPulse" };
const isRate = setting => setting.unit === "Hz" && setting.high <= 1e6;  // of firings or frames: no frequency of ultrasound
const shownUnit = setting => !isRate(setting) && shownUnits[setting.unit] || [1, setting.unit];
const scaleOf = setting => shownUnit(setting)[0], unitOf = setting => shownUnit(setting)[1];
const tidy = (v, digits) => String(Number(v.toPrecision(digits)));
const groupOf = key => key.slice(0, key.lastIndexOf("."));
const labelOf = key => key.slice(key.lastIndexOf(".") + 1).replace(/_db$/, "").replace(/_/g, " ").replace(/^./, c => c.toUpperCase());

async function askServer(request) {
  const response = await fetch(address("/control", {}), { method: "POST", cache: "no-store", headers: { "Content-Type": "application/json" }, body: JSON.stringify(request) });
  const type = response.headers.get("Content-Type") || "";
  if (!type.startsWith("application/json")) throw new Error((await response.text()).trim() || `status ${response.status}`);
  const reply = await response.json();
  reply.revision = Number(reply.revision);
  return reply;
}
function parsed(text) { try { return JSON.parse(text); } catch { return text; } }  // numbers, lists and texts of TOML as it is written here

// One of the places where a value is typed; `read` gives what is sent, "" for the default.
function makeInput(setting, name) {
  const id = "server-" + setting.key.replaceAll(".", "-") + (name ? "-" + name : ""), low = setting.low, high = setting.high, scale = scaleOf(setting);
  let input;
  if (isGainList(setting)) {
    input = makeGainSliders(setting);
  } else if (setting.type === "word") {
    input = document.createElement("select");
    if (!setting.words.includes(parsed(setting.default_value))) input.append(new Option("default", ""));
    input.append(...setting.words.map(word => new Option(word, word)));
  } else {
    input = document.createElement("input");
    input.type = "text";
    input.autocomplete = "off";
    input.spellcheck = false;
    if (setting.type === "true or false") input.type = "checkbox";
    if (/number|integer/.test(setting.type)) { input.inputMode = "decimal"; input.className = "value"; }
  }
  input.id = id;
  const bounds = low !== undefined && high !== undefined ? ` (${tidy(low * scale, 6)} to ${tidy(high * scale, 6)} ${unitOf(setting)})`.replace(" )", ")") : "";
  input.title = `${setting.help}${bounds}\n${setting.key}`;
  if (name) input.setAttribute("aria-label", `${labelOf(setting.key)}, ${name}`);
  return input;
}
// A value's parts, each typed in a place of its own; the second of some may be left empty.
const partNames = { "two numbers": ["first", "last"], "one or two numbers": ["first", "last"], "three numbers": ["x", "y", "z"], "two integers": ["nx", "nz"], "two or three integers": ["nx", "ny", "nz"] };
const pairNames = setting => partNames[setting.type] || [""];
const optionalPart = setting => / or (two|three) /.test(setting.type) ? 1 : -1;
function partsOf(setting, value) {  // as many as there are places; undefined for one that is left out
  const count = pairNames(setting).length, list = Array.isArray(value) ? [...value] : [value];
  if (list.length < count && optionalPart(setting) >= 0) list.splice(optionalPart(setting), 0, undefined);
  return list;
}
function typed(setting, inputs) {
  if (setting.type === "true or false") return String(inputs[0].checked);
  const texts = inputs.map(input => input.value.trim());
  if (texts.every(text => text === "")) return "";
  if (setting.type === "list of texts") return JSON.stringify(texts[0].split(/[\s,]+/).filter(Boolean));
  if (setting.type === "list of numbers") {
    const parts = texts[0].replace(/[[\]]/g, "").split(/[\s,]+/).filter(Boolean), scale = scaleOf(setting);
    return `[${parts.map(part => scale !== 1 && isFinite(part) ? tidy(Number(part) / scale, 12) : part).join(", ")}]`;
  }
  if (setting.type === "list of integers") return `[${texts[0].replace(/[[\]]/g, "").split(/[\s,]+/).filter(Boolean).join(", ")}]`;
  if (!/number|integer/.test(setting.type)) return texts[0];
  const scale = scaleOf(setting);
  const numbers = texts.filter((text, k) => text !== "" || k !== optionalPart(setting)).map(text => scale !== 1 && text !== "" && isFinite(text) ? tidy(Number(text) / scale, 12) : text);
  return numbers.length > 1 ? `[${numbers.join(", ")}]` : numbers[0];
}
function showValue(setting, inputs, text) {
  const value = text === "" ? null : parsed(text), scale = scaleOf(setting);
  const inUse = setting.in_use ? parsed(setting.in_use) : null;
  const one = v => typeof v === "number" ? tidy(v * scale, 7) : Array.isArray(v) ? v.map(one).join(", ") : String(v);
  if (setting.type === "true or false") { inputs[0].checked = value === true; return; }
  inputs.forEach((input, k) => {
    const part = v => inputs.length > 1 ? partsOf(setting, v)[k] : v, text = v => v === undefined ? "" : one(v);
    input.value = value === null ? "" : text(part(value));
    if (input.tagName === "INPUT") input.placeholder = inUse !== null ? text(part(inUse)) : "default";
  });
}

const panelRows = new Map();  // by key: { setting, inputs, row, slider }
function buildPanel() {
  const sections = new Map();
  panelRows.clear();
  for (const setting of inPanelOrder(server.settings.values())) {
    const group = groupOf(setting.key);
    if (!sections.has(group)) {
      const details = document.createElement("details"), summary = document.createElement("summary");
      summary.textContent = groupTitles[group] || group.replace(/_/g, " ").replace(/^./, c => c.toUpperCase());
      details.id = "server-" + group.replaceAll(".", "-");
      details.open = ["material", "grid", "output"].includes(group) || [...server.settings.values()].some(s => isGainList(s) && s.key.startsWith(group + "."));
      details.append(summary);
      sections.set(group, details);
    }
    const row = document.createElement("div"), label = document.createElement("label"), inputs = pairNames(setting).map(name => makeInput(setting, name));
    row.className = "setting";
    row.dataset.fields = inputs.length;
    row.toggleAttribute("data-gains", isGainList(setting));
    label.textContent = labelOf(setting.key);
    label.htmlFor = inputs[0].id;
    label.title = setting.help;
    const unit = document.createElement("span");
    unit.textContent = unitOf(setting);
    unit.className = "unit";
    row.append(label, ...(isGainList(setting) ? [unit, ...inputs] : [...inputs, unit]));
    const slider = makeTurnSlider(setting, inputs);
    if (slider) row.append(slider);
    if (slider && turnedSettings[setting.key].share) {
      const said = document.createElement("output");
      said.id = "sharpness";
      said.className = "turn";
      said.title = "Largest at the right velocity, as long as the scene stays; after the semicolon the largest so far, and where";
      row.append(said);
    }
    sections.get(group).append(row);
    for (const input of inputs) {
      input.addEventListener(input.type === "text" ? "input" : "change", () => stage(setting.key));
      const atOnce = () => { if (server.settings.get(setting.key).effect !== "imaging") applySoon(setting.key); };
      input.addEventListener("change", atOnce);
      if (isGainList(setting)) input.addEventListener("input", () => { stage(setting.key); atOnce(); });
      input.addEventListener("keydown", event => {
        if (event.key === "Enter") { event.preventDefault(); applyStaged(); }
        if (event.key === "Escape") { event.preventDefault(); unstage(setting.key); }
      });
    }
    panelRows.set(setting.key, { setting, inputs, row, slider });
  }
  $("serverSettings").replaceChildren(...sections.values());
}
function stage(key) {
  const { setting, inputs } = panelRows.get(key), text = typed(setting, inputs), now = server.settings.get(key).value;
  if (JSON.stringify(parsed(text)) === JSON.stringify(parsed(now))) server.staged.delete(key); else server.staged.set(key, text);
  showPanel();
}
function unstage(key) {
  for (const known of key ? [key] : [...server.staged.keys()]) {
    const { setting, inputs } = panelRows.get(known);
    server.staged.delete(known);
    showValue(setting, inputs, server.settings.get(known).value);  // also where the cursor stands
  }
  server.reason = "";
  showPanel();
}
function showPanel() {
  $("server").hidden = !server.there;
  for (const [key, { inputs, row, slider }] of panelRows) {
    const setting = server.settings.get(key), staged = server.staged.has(key);
    if (!staged && !inputs.some(input => input === document.activeElement && input.type === "text")) showValue(setting, inputs, setting.value);
    if (slider) slider.follow();
    row.dataset.state = staged ? "staged" : setting.value !== setting.file_value ? "changed" : "";
    row.title = staged ? "Not applied yet" : setting.value !== setting.file_value ? `Differs from the file: ${setting.file_value || "not set"}` : "";
  }
  $("serverApply").disabled = server.busy || server.staged.size === 0;
  $("serverRevert").disabled = server.busy || server.staged.size === 0;
  $("serverReset").disabled = server.busy || ![...server.settings.values()].some(s => s.value !== s.file_value);
  $("serverApply").firstChild.textContent = server.busy ? "Applying" : server.staged.size > 1 ? `Apply ${server.staged.size}` : "Apply";
  $("serverReason").hidden = !server.reason;
  if ($("serverReason").textContent !== server.reason) {
    $("serverReason").textContent = server.reason;
    if (server.reason) $("serverReason").scrollIntoView({ block: "nearest" });
  }
  $("serverAcquisition").hidden = !server.acquisition;
  $("serverAcquisition").textContent = server.acquisition;
  $("serverWarnings").hidden = server.warnings.length === 0;
  $("serverWarnings").textContent = server.warnings.join("\n");
  $("serverSinks").hidden = server.sinks.length === 0;
  $("serverSinks").textContent = server.sinks.join("\n");
  if ($("sharpness")) $("sharpness").textContent = sharpnessText();
  $("serverRevision").textContent = server.revision ? `settings ${server.revision}` : "";
}
// The server speaks SI: what it refuses of a setting is told in the unit in which it was typed.
function inTypedUnits(reason, keys) {
  for (const key of keys) {
    const { setting } = panelRows.get(key), scale = scaleOf(setting), unit = unitOf(setting), section = groupOf(key), name = key.slice(section.length + 1);
    if (scale === 1 || !reason.includes(`[${section}] ${name}`)) continue;
    const scaled = text => text.replace(/-?\d+(\.\d+)?(e[+-]?\d+)?/g, number => tidy(Number(number) * scale, 12));
    reason = reason.replace(/found (\[[^\]]*\]|-?[\d.]+(?:e[+-]?\d+)?);/, (_, value) => `found ${scaled(value)} ${unit};`)
      .replace(` in ${setting.unit}, ${setting.range}`, ` in ${unit}, ${scaled(setting.range || "")}`);
  }
  return reason;
}
function take(reply) {
  server.acquisition = reply.acquisition || "";
  server.warnings = reply.warnings || [];
  for (const setting of reply.settings || []) server.settings.set(setting.key, { words: [], ...setting });
  server.revision = reply.revision;
}
async function changeServer(request, keys) {
  if (server.busy) return;
  const sent = new Map(server.staged);
  server.busy = true;
  showPanel();
  try {
    const reply = await askServer(request);
    server.reason = reply.outcome === "DONE" ? "" : inTypedUnits(reply.reason, keys);
    if (reply.outcome === "DONE") { for (const key of keys) if (server.staged.get(key) === sent.get(key)) server.staged.delete(key); take(reply); }
  } catch (error) {
    server.reason = error.message;
  }
  server.busy = false;
  const due = [...server.due].filter(key => server.staged.has(key));
  server.due.clear();
  if (due.length) { applyStaged(due); return; }
  showPanel();
  server.revision = 0;  // what follows from the data may have changed with it
  await readServer();
  listStreams();  // imaging.views may be others now
}
function applyStaged(keys = [...server.staged.keys()]) {
  keys = keys.filter(key => server.staged.has(key));
  if (keys.length) changeServer({ action: "set", changes: keys.map(key => ({ key, value: server.staged.get(key) })) }, keys);
}
// What changes at once while another change is under way goes after it, as it is then.
function applySoon(key) { if (server.busy) server.due.add(key); else applyStaged([key]); }
let reading = false;
async function readServer() {
  if (reading || server.busy) return;
  reading = true;
  try {
    const reply = await askServer({ action: "get" });
    const keys = reply.settings.map(s => s.key).join();
    const other = keys !== [...server.settings.keys()].join();
    if (other) server.settings.clear();
    server.there = true;
    take(reply);
    $("serverClearScan").hidden = !(reply.actions || []).includes("clear_scan");
    if ((reply.actions || []).includes("status")) readSinks();
    if (other) {
      // Of settings that are listed no longer, of another method say, nothing waits.
      for (const waiting of [server.staged, server.due]) for (const key of [...waiting.keys()]) if (!server.settings.has(key)) waiting.delete(key);
      buildPanel();
    }
  } catch { /* the next list of streams asks again */ }
  reading = false;
  showPanel();
}
// What the server's sinks tell of themselves, where there are any that do.
let sinksDue = 0;
async function readSinks() {
  clearTimeout(sinksDue);
  try {
    if (!document.hidden) {
      const reply = await askServer({ action: "status" }), velocity = server.settings.get("material.longitudinal_velocity");
      server.sinks = reply.sinks || [];
      if (velocity && reply.revision === server.revision) noteSharpness(reply, Number(velocity.value || velocity.in_use));
    }
    clearTimeout(sinksDue);
    sinksDue = setTimeout(readSinks, 2000);
  } catch { server.sinks = []; }  // the next list of settings asks again
  showPanel();
}
// An image by settings that are not known here: somebody else has changed them.
function noteRevision(revision) { if (revision && revision !== server.revision && server.there) readServer(); }
$("serverApply").onclick = () => applyStaged();
$("serverRevert").onclick = () => unstage();
// A scan may be the work of a day: the first press asks, and the second within 5 s clears.
let clearAsked = 0;
function askToClear(asked) {
  clearTimeout(clearAsked);
  clearAsked = asked ? setTimeout(askToClear, 5000, false) : 0;
  $("serverClearScan").textContent = asked ? "Press again to clear the scan" : "Clear scan";
}
$("serverClearScan").onclick = () => {
  const asked = clearAsked !== 0;
  askToClear(!asked);
  if (asked) changeServer({ action: "clear_scan" }, []);
};
$("serverReset").onclick = () => { server.staged.clear(); changeServer({ action: "reset" }, []); };
