// The feed: "ready" asks for an image. The page is one of each stream ahead, so that the next are on their way while it draws the last.
let socket = null, backoff = 500, frameAsked = false, owed = 0, faults = 0;
function address(path, parameters) {
  const query = new URLSearchParams(parameters);
  if (token) query.set("token", token);
  return path + (query.toString() ? "?" + query : "");
}
function connect() {
  const wanted = wantedStreams(), ofFlow = flowStreams(wanted);
  asked = [...ofFlow, ...wanted];
  askForFlow(ofFlow);
  setPanes(wanted);
  const url = location.protocol.replace("http", "ws") + "//" + location.host + address("/images", [...asked.map(name => ["stream", name]), ...(ofFlow.length ? [["together", ""]] : [])]);
  const mine = socket = new WebSocket(url);
  mine.binaryType = "arraybuffer";
  mine.onopen = () => { if (mine !== socket) return; socketOpen = true; sinceOpen = 0; gaps.length = 0; owed = 0; lastArrival = 0; flow.owed = 0; for (const pane of panes) { pane.fresh = true; mine.send("ready"); } for (const _ of flow.asked) mine.send("ready"); listStreams(); showState(); };
  mine.onmessage = event => {
    if (mine !== socket || typeof event.data === "string") return;
    backoff = 500;
    let next = null;
    try { next = decodeImage(event.data); } catch (error) { faults++; console.warn("image left out:", error.message); answer(); return; }
    if (takeFlow(next)) return;
    const pane = paneOf(next.stream);
    attachFlow(next);
    if (!pane) { answer(next); return; }
    if (pane.pending) answer(pane.pending);  // for the one whose place it takes
    pane.pending = next;
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
function answer(img = null) {  // and for what flow came with it
  const count = 1 + (img ? img.owes : 0);
  if (paused) { owed += count; return; }  // the server holds the newest for us until we ask
  for (let k = 0; k < count; k++) if (socket && socket.readyState === WebSocket.OPEN) socket.send("ready");
}
function show() {
  frameAsked = false;
  const taken = [];
  let newest = null;
  for (const pane of panes) {
    if (!pane.pending || (paused && pane.image)) continue;
    newest = pane.pending;
    pane.pending = null;
    count(pane, newest);
    accept(pane, newest);
    taken.push(newest);
  }
  if (!taken.length) return;
  remember(taken);
  if (paused) showLoop();
  refresh();
  const delay = Date.now() * 1e6 - newest.publishTime;
  screenDelay = delay > -5e6 && delay < 1e10 ? Math.max(0, delay) + newest.latency : NaN;
  for (const img of taken) answer(img);
}
let seenRevision = 0;
const gridKey = img => [img.x, img.y, img.z].filter(Boolean).flatMap(axis => [axis.name, axis.unit, axis.first, axis.last, axis.count]).join();
function accept(pane, next) {
  noteRevision(next.revision);
  const before = pane.image;
  if (next.revision !== seenRevision || !before || before.stream !== next.stream) listStreams();  // other views, perhaps
  seenRevision = next.revision;
  if (settings.range === null) { settings.range = Math.min(100, Math.max(6, Math.round(next.range || 40))); buildPalette(); showSettings(); }
  const peak = next.encoding === 1 ? peakOf(next) : 0;
  pane.running = !before || before.stream !== next.stream || peak > pane.running ? peak : ofNumbers(next) ? pane.running : pane.running + 0.1 * (peak - pane.running);
  const other = !image || image.encoding !== next.encoding || gridKey(image) !== gridKey(next);
  setImage(pane, next);
  if (other) showSettings();
}
function refresh() {
  for (const plane of shownPlanes()) if (plane.pane.image) paintBitmap(plane);
  draw();
  renderVolume();
}
