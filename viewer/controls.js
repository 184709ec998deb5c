// Controls.
function showSettings() {
  $("map").value = mapShown();
  $("range").value = settings.range ?? 40; $("rangeText").textContent = `${settings.range ?? 40} dB`;
  $("gain").value = settings.gain; $("gainText").textContent = `${settings.gain > 0 ? "+" : ""}${format(settings.gain, 1)} dB`;
  $("smooth").checked = settings.smooth;
  $("overlay").checked = settings.overlay;
  $("whole").checked = settings.whole;
  // Numbers have ends of their own.
  const numbers = allNumbers(), envelope = !image || (image.encoding === 1 && !numbers);
  $("range").disabled = $("gain").disabled = numbers;
  $("reference").value = settings.reference; $("reference").disabled = !envelope;
  $("fixedField").hidden = !envelope || settings.reference !== "fixed";
  if (document.activeElement !== $("fixed")) $("fixed").value = settings.fixed ? Number(settings.fixed).toPrecision(4) : "";
  $("flow").value = settings.flow;
  $("flowThreshold").value = settings.flowThreshold; $("flowThreshold").disabled = settings.flow === "none"; $("flowThresholdText").textContent = `${format(settings.flowThreshold, 0)} dB`;
  showSlices();
}
function change(what) {
  Object.assign(settings, what);
  keep(); buildPalette(); showSettings(); refresh();
}
$("map").onchange = e => change({ map: e.target.value });
$("range").oninput = e => change({ range: Number(e.target.value) });
$("gain").oninput = e => change({ gain: Number(e.target.value) });
$("smooth").onchange = e => change({ smooth: e.target.checked });
$("overlay").onchange = e => change({ overlay: e.target.checked });
$("whole").onchange = e => change({ whole: e.target.checked });
$("flow").onchange = e => { change({ flow: e.target.value }); followStreams(); };
$("flowThreshold").oninput = e => change({ flowThreshold: Number(e.target.value) });
$("reference").onchange = e => change(e.target.value === "fixed" ? { fixed: image && image.scale === "decibels" ? reference(image) : settings.fixed || 1, reference: "fixed" } : { reference: e.target.value });
$("fixed").onchange = e => { const v = Number(e.target.value); change(v > 0 && isFinite(v) ? { fixed: v } : {}); e.target.value = settings.fixed ? Number(settings.fixed).toPrecision(4) : ""; };
$("rendering-mode").onchange = e => change({ rendering: e.target.value });
$("stream").onchange = e => {
  streamName = e.target.value;
  cursor = null;
  followStreams(); showViews();
};
function setPaused(on) {
  paused = on;
  $("pause").setAttribute("aria-pressed", String(on));
  $("pause").firstChild.textContent = on ? "Go on" : "Freeze";
  play(false);
  if (!on) {
    if (loop.at < loop.moments.length - 1) goTo(loop.moments.length - 1);
    lastArrival = lastArrival && performance.now();
    for (; owed > 0; owed--) answer();
    if (panes.some(pane => pane.pending)) show();
  }
  showState();
}
$("pause").onclick = () => setPaused(!paused);
function snapshot() {
  if (!image) return;
  // One plane in a figure as high as it needs, several in one of four to three.
  const planes = shownPlanes(), several = planes.length > 1, width = 1000, most = several ? 750 : 900, l0 = arrange(planes, width, most, " "), height = Math.ceil(Math.min(most, several ? most : l0.cells[0].h + 150)), canvas = document.createElement("canvas");
  canvas.width = 2 * width; canvas.height = 2 * height;
  const c = canvas.getContext("2d"), when = new Date(image.publishTime / 1e6), name = panes.length > 1 ? image.stream.replace(/\/.*/, "") : image.stream;
  const l = arrange(planes, width, height, `${name} \u00b7 ${panes.length > 1 ? "" : image.view + " \u00b7 "}sequence ${image.sequence} \u00b7 ${isNaN(when) ? "" : when.toISOString().replace("T", " ").slice(0, 23) + " UTC"}`);
  c.scale(2, 2);
  c.fillStyle = "#0a0d12"; c.fillRect(0, 0, width, height);
  planes.forEach((plane, k) => { if (plane.pane.image) drawBitmap(c, plane, l.cells[k]); });
  drawAxes(c, l);
  planes.forEach((plane, k) => drawOverlay(c, plane, l.cells[k]));
  if (l.rendering) drawRendering(c, l.rendering);
  canvas.toBlob(blob => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = `echoform-${name.replace(/[^\w.-]/g, "_")}-${image.sequence}.png`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  });
}
$("snapshot").onclick = snapshot;

document.onkeydown = event => {
  if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT)$/.test(event.target.tagName)) return;
  if (event.key === " " && event.target.tagName !== "BUTTON") { event.preventDefault(); setPaused(!paused); }
  if (paused && event.key === ",") step(-1);
  if (paused && event.key === ".") step(1);
  if (paused && event.key === "l") play(!loop.playing);
  if (event.key === "s") snapshot();
  if (event.key === "o") change({ overlay: !settings.overlay });
  if (event.key === "f" && flowOffered()) { const kinds = [...$("flow").options].map(o => o.value); change({ flow: kinds[(kinds.indexOf(settings.flow) + 1) % kinds.length] }); followStreams(); }
  if (event.key === "p") { const all = axesOfVolume.every(name => settings.projections[name]); change({ projections: { x: !all, y: !all, z: !all } }); }
  if (event.key === "c") { const names = [...$("map").options].map(o => o.value); change({ map: names[(names.indexOf(mapShown()) + 1) % names.length] }); }
};
new ResizeObserver(() => draw()).observe($("stage"));
setInterval(showState, 250);
setInterval(() => { if (socketOpen) listStreams(); }, 5000);

// For scripts and tests: what is on the screen, and where a place of the part lies on the figure (CSS pixels), in the axes of pane k.
const axesOf = l => l && { x: l.x, y: l.y, w: l.w, h: l.h, x0: l.x0, x1: l.x1, z0: l.z0, z1: l.z1 };
const planeState = (plane, k) => {
  const l = layout && layout.cells[k], pane = plane.pane, img = pane.image;
  return { plane: plane.kind.name, stream: img ? img.stream : pane.stream, view: img && img.view, sequence: img && img.sequence, revision: img && img.revision, received: pane.received, title: l && l.title,
           layout: axesOf(l), ticks: l && l.ticks, peak: img && (img.encoding === 1 ? peakOf(img) : Math.max(...img.values.slice(0, 1e5))), drawn: [...plane.drawn], flow: flowOver(img) && { pixels: plane.flowPixels, sequence: img.flow.velocity.sequence, limit: img.flow.velocity.limit },
           outlines: img && img.outlines.map(o => ({ name: o.name, x: [...o.x], z: [...o.z] })) };
};
const inMillimetres = place => Object.fromEntries(Object.entries(place).map(([name, v]) => [name, v * image[name].scale]));
window.echoform = {
  state: () => ({ status: whatState()[0], text: whatState()[1], paused, loop: { at: loop.at, count: loop.moments.length, playing: loop.playing, bytes: loop.bytes }, received, skipped, faults, sequence: image && image.sequence, position: image && image.position, stream: image && image.stream, imagesPerSecond: imagesPerSecond(),
                  settings: { ...settings }, revision: image && image.revision, server: { revision: server.revision, reason: server.reason, acquisition: server.acquisition, warnings: server.warnings, sinks: server.sinks, staged: [...server.staged], busy: server.busy, there: server.there,
                  values: Object.fromEntries([...server.settings.values()].map(s => [s.key, s.value])) }, ticks: tickLists, layout: axesOf(layout && layout.cells[0]),
                  grid: layout && layout.grid, figures: shownPlanes().map(planeState), streams: known.map(s => s.name),
                  cursor: cursor && image && { ...inMillimetres(cursor), values: readings().map(({ plane, ...reading }) => reading) },
                  slices: image && isVolume(image) ? inMillimetres(Object.fromEntries(axesOfVolume.map(name => [name, slicePlace(image, name)]))) : null, rendering: renderingState() }),
  // In a plane: `xmm` across and `zmm` down. In the rendering: a place of the part, as shares of its canvas.
  placeInRendering: (xmm, ymm, zmm) => rendering.place({ x: xmm, y: ymm, z: zmm }),
  place: (xmm, zmm, k = 0) => ({ x: layout.cells[k].toX(xmm), y: layout.cells[k].toY(zmm) }),
};
if (settings.range !== null) buildPalette(); else { settings.range = 40; buildPalette(); settings.range = null; }
showSettings();
listStreams().finally(connect);
