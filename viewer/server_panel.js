// The server's settings: controls built from what POST /control says of them. What changes at once is sent as it is changed; what
// needs a new engine is gathered until "Apply" (Enter), and goes together. Lengths are shown in mm, times in us.
const server = { revision: 0, settings: new Map(), staged: new Map(), reason: "", busy: false, there: false };
const shownUnits = { m: [1e3, "mm"], s: [1e6, "\u00b5s"], Hz: [1e-6, "MHz"] };
const groupTitles = { material: "Velocities", couplant: "Couplant", surface: "Front surface", backwall: "Backwall", probe: "Probe", grid: "Grid", imaging: "Imaging", apodization: "Apodization", output: "Output", display: "Display grid", acquisition: "Timing", input: "Input" };
const scaleOf = setting => (shownUnits[setting.unit] || [1])[0];
const unitOf = setting => (shownUnits[setting.unit] || [1, setting.unit])[1];
const tidy = (v, digits) => String(Number(v.toPrecision(digits)));
const labelOf = key => key.split(".")[1].replace(/_db$/, "").replace(/_/g, " ").replace(/^./, c => c.toUpperCase());

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
  const id = "server-" + setting.key.replace(".", "-") + (name ? "-" + name : ""), low = setting.low, high = setting.high, scale = scaleOf(setting);
  let input;
  if (setting.type === "word") {
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
const pairNames = setting => setting.type === "two numbers" ? ["first", "last"] : setting.type === "two integers" ? ["nx", "nz"] : [""];
function typed(setting, inputs) {
  if (setting.type === "true or false") return String(inputs[0].checked);
  const texts = inputs.map(input => input.value.trim());
  if (texts.every(text => text === "")) return "";
  if (setting.type === "list of texts") return JSON.stringify(texts[0].split(/[\s,]+/).filter(Boolean));
  if (!/number|integer/.test(setting.type)) return texts[0];
  const scale = scaleOf(setting);
  const numbers = texts.map(text => scale !== 1 && text !== "" && isFinite(text) ? tidy(Number(text) / scale, 12) : text);
  return numbers.length > 1 ? `[${numbers.join(", ")}]` : numbers[0];
}
function showValue(setting, inputs, text) {
  const value = text === "" ? null : parsed(text), scale = scaleOf(setting);
  const inUse = setting.in_use ? parsed(setting.in_use) : null;
  const one = v => typeof v === "number" ? tidy(v * scale, 7) : Array.isArray(v) ? v.join(", ") : String(v);
  if (setting.type === "true or false") { inputs[0].checked = value === true; return; }
  inputs.forEach((input, k) => {
    const part = v => inputs.length > 1 && Array.isArray(v) ? v[k] : v;
    input.value = value === null ? "" : one(part(value));
    if (input.tagName === "INPUT") input.placeholder = inUse !== null ? one(part(inUse)) : "default";
  });
}

const panelRows = new Map();  // by key: { setting, inputs, row }
function buildPanel() {
  const sections = new Map();
  panelRows.clear();
  for (const setting of server.settings.values()) {
    const group = setting.key.split(".")[0];
    if (!sections.has(group)) {
      const details = document.createElement("details"), summary = document.createElement("summary");
      summary.textContent = groupTitles[group] || group;
      details.id = "server-" + group;
      details.open = ["material", "grid", "output"].includes(group);
      details.append(summary);
      sections.set(group, details);
    }
    const row = document.createElement("div"), label = document.createElement("label"), inputs = pairNames(setting).map(name => makeInput(setting, name));
    row.className = "setting";
    label.textContent = labelOf(setting.key);
    label.htmlFor = inputs[0].id;
    label.title = setting.help;
    const unit = document.createElement("span");
    unit.textContent = unitOf(setting);
    unit.className = "unit";
    row.append(label, ...inputs, unit);
    sections.get(group).append(row);
    for (const input of inputs) {
      input.addEventListener(input.type === "text" ? "input" : "change", () => stage(setting.key));
      input.addEventListener("change", () => { if (server.settings.get(setting.key).effect !== "imaging") applyStaged([setting.key]); });
      input.addEventListener("keydown", event => {
        if (event.key === "Enter") { event.preventDefault(); applyStaged(); }
        if (event.key === "Escape") { event.preventDefault(); unstage(setting.key); }
      });
    }
    panelRows.set(setting.key, { setting, inputs, row });
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
  for (const [key, { inputs, row }] of panelRows) {
    const setting = server.settings.get(key), staged = server.staged.has(key);
    if (!staged && !inputs.some(input => input === document.activeElement && input.type === "text")) showValue(setting, inputs, setting.value);
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
  $("serverRevision").textContent = server.revision ? `settings ${server.revision}` : "";
}
function take(reply) {
  for (const setting of reply.settings || []) server.settings.set(setting.key, { words: [], ...setting });
  server.revision = reply.revision;
}
async function changeServer(request, keys) {
  if (server.busy) return;
  server.busy = true;
  showPanel();
  try {
    const reply = await askServer(request);
    server.reason = reply.outcome === "DONE" ? "" : reply.reason;
    if (reply.outcome === "DONE") { for (const key of keys) server.staged.delete(key); take(reply); }
  } catch (error) {
    server.reason = error.message;
  }
  server.busy = false;
  showPanel();
  server.revision = 0;  // what follows from the data may have changed with it
  await readServer();
  listStreams();  // imaging.views may be others now
}
function applyStaged(keys = [...server.staged.keys()]) {
  keys = keys.filter(key => server.staged.has(key));
  if (keys.length) changeServer({ action: "set", changes: keys.map(key => ({ key, value: server.staged.get(key) })) }, keys);
}
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
    if (other) buildPanel();
  } catch { /* the next list of streams asks again */ }
  reading = false;
  showPanel();
}
// An image by settings that are not known here: somebody else has changed them.
function noteRevision(revision) { if (revision && revision !== server.revision && server.there) readServer(); }
$("serverApply").onclick = () => applyStaged();
$("serverRevert").onclick = () => unstage();
$("serverReset").onclick = () => { server.staged.clear(); changeServer({ action: "reset" }, []); };
