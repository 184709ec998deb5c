// Controls.
function showSettings() {
  $("map").value = settings.map;
  $("range").value = settings.range ?? 40; $("rangeText").textContent = `${settings.range ?? 40} dB`;
  $("gain").value = settings.gain; $("gainText").textContent = `${settings.gain > 0 ? "+" : ""}${format(settings.gain, 1)} dB`;
  $("smooth").checked = settings.smooth;
  const envelope = !image || image.encoding === 1;
  $("reference").value = settings.reference; $("reference").disabled = !envelope;
  $("fixedField").hidden = !envelope || settings.reference !== "fixed";
  if (document.activeElement !== $("fixed")) $("fixed").value = settings.fixed ? Number(settings.fixed).toPrecision(4) : "";
  const volume = image && image.ny > 1;
  $("sliceField").hidden = !volume;
  if (volume) {
    $("slice").max = image.ny - 1; $("slice").value = slice;
    $("sliceText").textContent = format((image.y.first + slice * image.y.step) * 1e3, 1) + " mm";
  }
}
function change(what) {
  Object.assign(settings, what);
  keep(); buildPalette(); showSettings(); refresh();
}
$("map").onchange = e => change({ map: e.target.value });
$("range").oninput = e => change({ range: Number(e.target.value) });
$("gain").oninput = e => change({ gain: Number(e.target.value) });
$("smooth").onchange = e => change({ smooth: e.target.checked });
$("reference").onchange = e => change(e.target.value === "fixed" ? { fixed: image ? referenceOf(image) : settings.fixed || 1, reference: "fixed" } : { reference: e.target.value });
$("fixed").onchange = e => { const v = Number(e.target.value); change(v > 0 && isFinite(v) ? { fixed: v } : {}); e.target.value = settings.fixed ? Number(settings.fixed).toPrecision(4) : ""; };
$("slice").oninput = e => { slice = Number(e.target.value); showSettings(); refresh(); };
$("stream").onchange = e => {
  streamName = e.target.value;
  image = pending = null; running = 0; lastArrival = 0; cursor = null; layoutKey = "";
  const old = socket; socket = null; if (old) old.close();
  socketOpen = false; connect(); draw(); showState();
};
function setPaused(on) {
  paused = on;
  $("pause").setAttribute("aria-pressed", String(on));
  $("pause").firstChild.textContent = on ? "Resume" : "Pause";
  if (!on) {
    lastArrival = lastArrival && performance.now();
    for (; owed > 0; owed--) answer();
    if (pending) show();
  }
  showState();
}
$("pause").onclick = () => setPaused(!paused);
function snapshot() {
  if (!image) return;
  const width = 1000, l0 = arrange(image, width, 900, " "), height = Math.ceil(Math.min(900, l0.h + 130)), canvas = document.createElement("canvas");
  canvas.width = 2 * width; canvas.height = 2 * height;
  const c = canvas.getContext("2d"), when = new Date(image.publishTime / 1e6);
  const l = arrange(image, width, height, `${image.stream} \u00b7 ${image.view} \u00b7 sequence ${image.sequence} \u00b7 ${isNaN(when) ? "" : when.toISOString().replace("T", " ").slice(0, 23) + " UTC"}`);
  c.scale(2, 2);
  c.fillStyle = "#0a0d12"; c.fillRect(0, 0, width, height);
  drawBitmap(c, l); drawAxes(c, l);
  canvas.toBlob(blob => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = `echoform-${image.stream.replace(/[^\w.-]/g, "_")}-${image.sequence}.png`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  });
}
$("snapshot").onclick = snapshot;

function pointAt(event) {
  if (!image || !layout) return;
  const box = figure.getBoundingClientRect();
  const x = ((event.clientX - box.left - layout.x) / layout.scale + layout.x0) * 1e-3, z = ((event.clientY - box.top - layout.y) / layout.scale + layout.z0) * 1e-3;
  const ix = Math.round(image.x.step ? (x - image.x.first) / image.x.step : 0), iz = Math.round(image.z.step ? (z - image.z.first) / image.z.step : 0);
  const inside = ix >= 0 && iz >= 0 && ix < image.x.count && iz < image.z.count;
  cursor = inside ? { ix, iz } : null;
  draw();
}
figure.onpointermove = pointAt;
figure.onpointerdown = pointAt;
figure.onpointerleave = () => { cursor = null; draw(); };
figure.onkeydown = event => {
  const move = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
  if (!move || !image) return;
  event.preventDefault();
  const n = event.shiftKey ? 10 : 1;
  cursor = cursor || { ix: image.x.count >> 1, iz: image.z.count >> 1 };
  cursor = { ix: Math.max(0, Math.min(image.x.count - 1, cursor.ix + n * move[0])), iz: Math.max(0, Math.min(image.z.count - 1, cursor.iz + n * move[1])) };
  draw();
};
document.onkeydown = event => {
  if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT)$/.test(event.target.tagName)) return;
  if (event.key === " " && event.target.tagName !== "BUTTON") { event.preventDefault(); setPaused(!paused); }
  if (event.key === "s") snapshot();
  if (event.key === "c") { const names = [...$("map").options].map(o => o.value); change({ map: names[(names.indexOf(settings.map) + 1) % names.length] }); }
};
new ResizeObserver(() => draw()).observe($("stage"));
setInterval(showState, 250);
setInterval(() => { if (socketOpen) listStreams(); }, 5000);

// For scripts and tests: what is on the screen, and where a place of the part lies on the figure (CSS pixels).
window.echoform = {
  state: () => ({ status: whatState()[0], text: whatState()[1], paused, received, skipped, faults, sequence: image && image.sequence, stream: image && image.stream, imagesPerSecond: imagesPerSecond(),
                  settings: { ...settings }, revision: image && image.revision, server: { revision: server.revision, reason: server.reason, staged: [...server.staged], busy: server.busy, there: server.there,
                  values: Object.fromEntries([...server.settings.values()].map(s => [s.key, s.value])) }, ticks: tickLists, layout: layout && { x: layout.x, y: layout.y, w: layout.w, h: layout.h, x0: layout.x0, x1: layout.x1, z0: layout.z0, z1: layout.z1 } }),
  place: (xmm, zmm) => ({ x: layout.toX(xmm), y: layout.toY(zmm) }),
};
if (settings.range !== null) buildPalette(); else { settings.range = 40; buildPalette(); settings.range = null; }
showSettings();
connect();
