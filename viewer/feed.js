// The feed: "ready" asks for an image. The page is one ahead, so that the next is on its way while it draws the last.
let socket = null, backoff = 500, pending = null, frameAsked = false, owed = 0, faults = 0;
function address(path, parameters) {
  const query = new URLSearchParams(parameters);
  if (token) query.set("token", token);
  return path + (query.toString() ? "?" + query : "");
}
function connect() {
  const url = location.protocol.replace("http", "ws") + "//" + location.host + address("/images", streamName ? { stream: streamName } : {});
  const mine = socket = new WebSocket(url);
  mine.binaryType = "arraybuffer";
  mine.onopen = () => { if (mine !== socket) return; socketOpen = true; sinceOpen = 0; owed = 0; lastArrival = 0; mine.send("ready"); listStreams(); showState(); };
  mine.onmessage = event => {
    if (mine !== socket || typeof event.data === "string") return;
    backoff = 500;
    let next = null;
    try { next = decodeImage(event.data); } catch (error) { faults++; console.warn("image left out:", error.message); answer(); return; }
    if (pending) answer();  // for the one whose place it takes
    pending = next;
    if (!frameAsked) { frameAsked = true; requestAnimationFrame(show); }
  };
  mine.onclose = () => {
    if (mine !== socket) return;
    socketOpen = false;
    retryAt = performance.now() + backoff * (0.8 + 0.4 * Math.random());
    setTimeout(connect, retryAt - performance.now());
    backoff = Math.min(backoff * 2, 8000);
    showState();
  };
}
function answer() {
  if (paused) { owed++; return; }  // the server holds the newest for us until we ask
  if (socket && socket.readyState === WebSocket.OPEN) socket.send("ready");
}
function show() {
  frameAsked = false;
  if (pending) {
    if (paused && image) return;
    const next = pending;
    pending = null;
    count(next);
    accept(next);
    refresh();
    const delay = Date.now() * 1e6 - next.publishTime;
    screenDelay = delay > -5e6 && delay < 1e10 ? Math.max(0, delay) + next.latency : NaN;
    answer();
  }
}
function accept(next) {
  noteRevision(next.revision);
  if (settings.range === null) { settings.range = Math.min(100, Math.max(6, Math.round(next.range || 40))); buildPalette(); showSettings(); }
  const peak = next.encoding === 1 ? peakOf(next) : 0;
  running = !image || image.stream !== next.stream || peak > running ? peak : running + 0.1 * (peak - running);
  const other = !image || image.encoding !== next.encoding || image.ny !== next.ny;
  image = next;
  if (other) showSettings();
}
function refresh() {
  if (image) paintBitmap(image);
  draw();
}
async function listStreams() {
  try {
    const response = await fetch(address("/streams.json", {}), { cache: "no-store" });
    if (!response.ok) return;
    const { streams, control } = await response.json(), select = $("stream"), wanted = streamName || (streams[0] || {}).name || "";
    if (control) readServer(); else if (server.there) { server.there = false; showPanel(); }
    const names = streams.map(s => s.name);
    if (wanted && !names.includes(wanted)) names.push(wanted);
    if ([...select.options].map(o => o.value).join() !== names.join()) {
      select.replaceChildren(...names.map(name => {
        const s = streams.find(e => e.name === name), option = new Option(s ? `${name} (${s.view}, ${s.encoding === "envelope_float32" ? "envelope" : "display"})` : name, name);
        return option;
      }));
    }
    select.value = wanted;
    select.disabled = names.length < 2;
  } catch { /* shown by the status */ }
}
