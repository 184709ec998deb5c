// Which of the server's streams are shown: all views, or those that are ticked, up to four; or one stream.
const allEnvelopes = "*", allDisplays = "*.display";
let known = [], asked = null;  // what /streams.json told; streams that the socket was opened for
const isDisplay = stream => stream.encoding !== "envelope_float32";
const severalViews = () => new Set(known.map(s => s.view)).size > 1;
const ofVolumes = () => known.some(s => (s.pixels || []).length === 3);
const axisNames = stream => (stream.axes || ["x", "z"]).join();
// Whether envelopes have other axes than display images, such as range and angle of a sector: only those lie as the part does.
const offPart = () => known.some(s => isDisplay(s) && known.some(of => !isDisplay(of) && of.view === s.view && axisNames(of) !== axisNames(s)));
const inPart = img => !img.lines && img.x.unit === "m" && img.z.unit === "m" && img.x.name !== "y";
function isOffPart(img) {
  if (!inPart(img)) return true;  // range and angle, time, velocity: no places, or those of another plane
  const shown = known.find(s => isDisplay(s) && s.view === img.view);
  return Boolean(shown) && axisNames(shown) !== [img.x.name, img.z.name].join();
}
// What is shown where nobody has chosen: of volumes the 8-bit images, a quarter as long, and those that lie as the part does.
const usualStream = () => (((ofVolumes() || offPart()) && known.find(isDisplay)) || known[0] || { name: "" }).name;
const chosenStream = () => !streamName && offPart() ? (severalViews() && !ofVolumes() && !flowOffered() ? allDisplays : usualStream()) : ofVolumes() && (!streamName || streamName === allEnvelopes || streamName === allDisplays) ? usualStream() : streamName;
const oneStream = () => chosenStream() && chosenStream() !== allEnvelopes && chosenStream() !== allDisplays;

function viewsOffered() {  // streams of one encoding, one a view
  const display = chosenStream() === allDisplays, list = known.filter(s => isDisplay(s) === display);
  return list.length ? list : known.filter(s => isDisplay(s) !== display);
}
function wantedStreams() {
  if (oneStream()) return [chosenStream()];
  // Where nobody has chosen, flow lies over the image, and takes no panes of its own.
  const all = viewsOffered(), chosen = all.filter(s => settings.views ? settings.views.includes(s.view) : !(flowOffered() && ofFlow(s)));
  return (chosen.length ? chosen : all).slice(0, mostPanes).map(s => s.name);
}
// Takes up what is wanted now: by another socket where it is not what the present one was opened for.
function followStreams() {
  const shown = wantedStreams(), wanted = [...flowStreams(shown), ...shown];
  if (!asked || wanted.join("\n") === asked.join("\n")) return;
  if (!asked.length && wanted.length === 1 && known[0] && wanted[0] === known[0].name) {  // what comes unasked
    asked = wanted;
    panes[0].stream = wanted[0];
    return;
  }
  const old = socket;
  socket = null;
  if (old) old.close();
  socketOpen = false; lastArrival = 0;
  connect(); refresh(); showSettings(); showState();
}
function showViews() {
  const offered = viewsOffered(), shown = wantedStreams();
  $("viewsField").hidden = oneStream() || offered.length < 2;
  $("viewsNote").textContent = offered.length > mostPanes ? `up to ${mostPanes} of ${offered.length}` : "";
  const key = offered.map(s => s.view).join("\n");
  if ($("views").dataset.key !== key) {
    $("views").dataset.key = key;
    $("views").replaceChildren(...offered.map(s => {
      const label = document.createElement("label"), box = document.createElement("input");
      label.className = "check";
      box.type = "checkbox";
      box.value = s.view;
      box.id = "view-" + s.view;
      box.onchange = () => {
        const ticked = [...$("views").querySelectorAll("input")].filter(b => b.checked).map(b => b.value);
        settings.views = ticked.length === offered.length && !flowOffered() ? null : ticked;
        keep(); followStreams(); showViews();
      };
      label.append(box, s.view);
      return label;
    }));
  }
  for (const box of $("views").querySelectorAll("input")) {
    box.checked = shown.includes((offered.find(s => s.view === box.value) || {}).name);
    box.disabled = box.checked ? shown.length === 1 : shown.length >= mostPanes;
  }
}
let listing = null;
function listStreams() {  // one at a time
  return listing = listing || readStreams().finally(() => { listing = null; });
}
async function readStreams() {
  try {
    const response = await fetch(address("/streams.json", {}), { cache: "no-store" });
    if (!response.ok) return;
    const { streams, control } = await response.json(), select = $("stream");
    const before = mapShown();
    known = streams;
    if (mapShown() !== before && settings.range !== null) { buildPalette(); showSettings(); refresh(); }
    if (control) readServer(); else if (server.there) { server.there = false; showPanel(); }
    const words = { envelope_float32: "envelope", display_uint8: "display" };
    const options = streams.map(s => [s.name, `${s.name} (${s.view}, ${words[s.encoding]})`]);
    if (severalViews() && !ofVolumes()) {
      if (streams.some(isDisplay)) options.unshift([allDisplays, "All views, display"]);
      if (!streams.every(isDisplay)) options.unshift([allEnvelopes, "All views, envelope"]);
    }
    const wanted = chosenStream() || (options[0] || [""])[0];
    if (wanted && !options.some(o => o[0] === wanted)) options.push([wanted, wanted]);
    if ([...select.options].map(o => o.value).join() !== options.map(o => o[0]).join()) select.replaceChildren(...options.map(([name, text]) => new Option(text, name)));
    select.value = wanted;
    select.disabled = options.length < 2;
    $("flowField").hidden = !flowOffered();
    followStreams();
    showViews();
  } catch { /* shown by the status */ }
}
