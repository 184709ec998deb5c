// Statistics and state.
let received = 0, skipped = 0, lastArrival = 0, sinceOpen = 0;
const arrivals = [], latencies = [], rates = [], ratesShown = 120;
const gaps = [], gapsKept = 5;  // seconds between the latest images, as the server published them: some methods take minutes for each
function median(list) { const s = [...list].sort((a, b) => a - b); return s.length ? s[s.length >> 1] : NaN; }
function count(pane, img) {
  const now = performance.now();
  sinceOpen++; lastArrival = now;
  pane.received++;
  if (pane !== panes[0]) return;  // frames, however many views of them are shown
  const before = pane.image;
  if (before && img.stream === before.stream && img.sequence > before.sequence && !pane.fresh) skipped += Math.max(0, img.published - before.published - 1);
  pane.fresh = false;
  if (before && img.stream === before.stream && img.published > before.published && img.publishTime > before.publishTime) {
    gaps.push((img.publishTime - before.publishTime) / (img.published - before.published) / 1e9);
    if (gaps.length > gapsKept) gaps.shift();
  }
  received++;
  if (!sameImage(before, img)) arrivals.push(now);
  latencies.push(img.latency);
  if (latencies.length > 100) latencies.shift();
}
// A scan shows its image again for a frame from a place that it holds already.
const sameImage = (before, img) => before !== null && before !== undefined && img.places !== null && before.places === img.places && before.stream === img.stream;
function imagesPerSecond() {  // of those that are another image
  const now = performance.now();
  while (arrivals.length && arrivals[0] < now - 2000) arrivals.shift();
  if (image && image.places !== null) return arrivals.length / 2;
  const span = arrivals.length > 1 ? arrivals[arrivals.length - 1] - arrivals[0] : 0;
  if (span > 0 && now - lastArrival < 2000) return (arrivals.length - 1) / span * 1e3;
  return gaps.length && image && age() <= longestPause() ? 1 / Math.max(gaps[gaps.length - 1], age()) : 0;
}
let paused = false, socketOpen = false, retryAt = 0;
// Seconds without an image after which the stream has stopped: three times as long as it took lately. After one image alone nobody knows.
const longestPause = () => gaps.length ? Math.max(2, 3 * Math.max(...gaps)) : 60;
const secondsText = s => s < 100 ? `${Math.floor(s)} s` : `${Math.floor(s / 60)} min`;
function age() {  // seconds since the last image; one that waited at the server is as old as the server says
  const here = (performance.now() - lastArrival) / 1e3;
  return sinceOpen <= panes.length && image ? Math.max(here, Date.now() / 1e3 - image.publishTime / 1e9) : here;
}
function whatState() {
  if (!socketOpen) return ["disconnected", retryAt > performance.now() ? `Disconnected, reconnecting in ${Math.ceil((retryAt - performance.now()) / 1e3)} s` : "Disconnected, reconnecting"];
  if (paused) return ["paused", "Frozen"];
  if (!image || !lastArrival) return ["waiting", "Connected, waiting for images"];
  if (age() > longestPause()) return ["stopped", gaps.length ? `Stream stopped ${secondsText(age())} ago` : `No image for ${secondsText(age())}`];
  if (age() > 2) return ["slow", `Last image ${secondsText(age())} ago`];
  return ["live", "Live"];
}
const milliseconds = ns => ns < 1e7 ? (ns / 1e6).toFixed(2) + " ms" : (ns / 1e6).toFixed(1) + " ms";
const grouped = n => n.toLocaleString("en-US").replace(/,/g, "\u202f");
let screenDelay = NaN, beat = 0;
function showState() {
  const [state, text] = whatState(), status = $("status"), notice = $("notice");
  if (status.textContent !== text) status.textContent = text;
  status.dataset.state = notice.dataset.state = state;
  notice.hidden = ["live", "slow", "paused"].includes(state);
  notice.textContent = text;
  const rate = imagesPerSecond();
  $("rate").textContent = rate.toFixed(rate > 0 && rate < .95 ? 2 : 1);
  if (image) {
    const drops = image.drops.reduce((sum, d) => sum + d[1], 0);
    $("latency").textContent = milliseconds(median(latencies));
    $("screen").textContent = isFinite(screenDelay) ? milliseconds(screenDelay) : "\u2013";
    $("sequence").textContent = grouped(image.sequence);
    $("position").hidden = $("positionName").hidden = image.position === null;
    $("position").textContent = image.position === null ? "" : grouped(image.position);
    $("drops").textContent = grouped(drops);
    $("drops").title = image.drops.map(d => `${d[0]}: ${d[1]}`).join("\n");
    $("skipped").textContent = grouped(skipped);
  }
  if (++beat % 2 === 0) { rates.push(rate); if (rates.length > ratesShown) rates.shift(); drawHistory(); }
}
function drawHistory() {  // images/s over the last minute
  const c = $("history"), ratio = window.devicePixelRatio || 1, w = c.clientWidth, h = c.clientHeight;
  c.width = w * ratio; c.height = h * ratio;
  const g = c.getContext("2d"), most = Math.max(1, ...rates) * 1.1;
  g.scale(ratio, ratio);
  g.beginPath();
  const first = w - (rates.length - 1) / (ratesShown - 1) * w;
  rates.forEach((r, i) => { const x = first + i / (ratesShown - 1) * w, y = h - 1.5 - r / most * (h - 4); i ? g.lineTo(x, y) : g.moveTo(x, y); });
  g.strokeStyle = "#56c8ff"; g.lineWidth = 1.5; g.stroke();
  g.lineTo(w, h); g.lineTo(first, h); g.closePath();
  g.fillStyle = "rgba(86,200,255,.12)"; g.fill();
}
