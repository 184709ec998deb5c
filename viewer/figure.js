// The figure: a grid of axes with an image each.
const figure = $("figure"), context = figure.getContext("2d", { alpha: false });
let layout = null, axesLayer = null;

const edge = axis => { const half = axis.step ? axis.step / 2 : 0.5e-3; return [axis.first - half, axis.last + half]; };
function ticks(low, high, most) {
  const raw = (high - low) / Math.max(1, most), power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map(k => k * power).find(s => s >= raw * 0.999);
  const list = [];
  for (let n = Math.ceil(low / step - 1e-9); n * step <= high + 1e-9 * step; n++) list.push(n * step);
  return { list, digits: Math.max(0, -Math.floor(Math.log10(step) + 1e-9)) };
}
// What a pane's axes hold, mm: the image, and with `whole` probe and surfaces too.
function extentOf(img) {
  let [x0, x1] = edge(img.x).map(v => v * 1e3), [z0, z1] = edge(img.z).map(v => v * 1e3);
  if (!settings.whole) return { x0, x1, z0, z1 };
  for (const outline of img.outlines) {
    x0 = Math.min(x0, ...outline.x.map(v => v * 1e3)); x1 = Math.max(x1, ...outline.x.map(v => v * 1e3));
    z0 = Math.min(z0, ...outline.z.map(v => v * 1e3 - 1)); z1 = Math.max(z1, ...outline.z.map(v => v * 1e3 + 1));
  }
  return { x0, x1, z0, z1 };
}
const margins = { left: 66, right: 14, top: 34, bottom: 52 }, barWidth = 78;
const scaleIn = (e, width, height) => Math.max(1e-3, Math.min((width - margins.left - margins.right) / (e.x1 - e.x0), (height - margins.top - margins.bottom) / (e.z1 - e.z0)));
// Places everything in a figure of width x height CSS pixels: a grid of axes, one mm as long along x as along z, and one colour bar.
function arrange(shown, width, height, headline) {
  const lead = shown.find(pane => pane.image), top = headline ? 30 : 0;
  const extents = shown.map(pane => extentOf((pane.image ? pane : lead).image)), grids = { 1: [[1, 1]], 2: [[2, 1], [1, 2]] }[shown.length] || [[2, 2]];
  const size = ([columns, rows]) => [(width - barWidth) / columns, (height - top) / rows];
  const fit = grid => Math.min(...extents.map(e => scaleIn(e, ...size(grid))));
  const grid = grids.reduce((best, other) => fit(other) > fit(best) ? other : best), [w, h] = size(grid);
  const cells = shown.map((pane, k) => {
    const e = extents[k], left = (k % grid[0]) * w, above = top + Math.floor(k / grid[0]) * h, scale = scaleIn(e, w, h);
    const cell = { ...e, scale, w: (e.x1 - e.x0) * scale, h: (e.z1 - e.z0) * scale, title: pane.image ? pane.image.view : "" };
    cell.x = left + margins.left + Math.max(0, (w - margins.left - margins.right - cell.w) / 2);
    cell.y = above + margins.top + Math.max(0, (h - margins.top - margins.bottom - cell.h) / 2);
    cell.toX = mm => cell.x + (mm - e.x0) * scale;
    cell.toY = mm => cell.y + (mm - e.z0) * scale;
    return cell;
  });
  const ends = [Math.min(...cells.map(c => c.y)), Math.max(...cells.map(c => c.y + c.h))];
  const right = Math.max(...cells.map(c => c.x + c.w));
  return { width, height, grid, cells, headline, bar: { x: right + 20, y: ends[0], w: 14, h: ends[1] - ends[0] } };
}
const format = (v, digits) => (Math.abs(v) < 1e-9 ? 0 : v).toFixed(digits).replace("-", "\u2212");
function drawCellAxes(c, l) {
  c.font = '12px system-ui, "DejaVu Sans", sans-serif';
  c.strokeStyle = "#56647a"; c.fillStyle = "#b4bfcd"; c.lineWidth = 1;
  c.strokeRect(Math.round(l.x) - .5, Math.round(l.y) - .5, Math.round(l.w) + 1, Math.round(l.h) + 1);
  const xt = ticks(l.x0, l.x1, l.w / 70), zt = ticks(l.z0, l.z1, l.h / 55);
  c.beginPath();
  c.textAlign = "center"; c.textBaseline = "top";
  for (const v of xt.list) {
    const at = Math.round(l.toX(v)) + .5;
    c.moveTo(at, l.y + l.h + 1); c.lineTo(at, l.y + l.h + 6);
    c.fillText(format(v, xt.digits), at, l.y + l.h + 10);
  }
  c.textAlign = "right"; c.textBaseline = "middle";
  for (const v of zt.list) {
    const at = Math.round(l.toY(v)) + .5;
    c.moveTo(l.x - 1, at); c.lineTo(l.x - 6, at);
    c.fillText(format(v, zt.digits), l.x - 10, at);
  }
  c.stroke();
  c.fillStyle = "#dbe2ec"; c.font = '13px system-ui, "DejaVu Sans", sans-serif';
  c.textAlign = "center"; c.textBaseline = "alphabetic";
  c.fillText("x [mm]", l.x + l.w / 2, l.y + l.h + 42);
  c.save(); c.translate(l.x - 46, l.y + l.h / 2); c.rotate(-Math.PI / 2); c.fillText("z [mm]", 0, 0); c.restore();
  if (l.title) { c.textAlign = "left"; c.fillText(l.title, l.x, l.y - 12); }
  return { x: xt.list, z: zt.list };
}
function drawAxes(c, l) {
  for (const cell of l.cells) cell.ticks = drawCellAxes(c, cell);
  if (l.headline) { c.textAlign = "left"; c.textBaseline = "alphabetic"; c.fillText(l.headline, l.cells[0].x, 22); }
  const b = l.bar;
  for (let i = 0, n = Math.max(2, Math.round(b.h)); i < n; i++) {
    const [r, g, bl] = colour(settings.map, 1 - i / (n - 1));
    c.fillStyle = `rgb(${r},${g},${bl})`;
    c.fillRect(b.x, b.y + i * b.h / n, b.w, b.h / n + .6);
  }
  c.strokeStyle = "#56647a"; c.strokeRect(Math.round(b.x) - .5, Math.round(b.y) - .5, b.w + 1, Math.round(b.h) + 1);
  c.fillStyle = "#b4bfcd"; c.font = '12px system-ui, "DejaVu Sans", sans-serif'; c.textAlign = "left"; c.textBaseline = "middle";
  const low = -settings.range - settings.gain, high = -settings.gain;  // what the ends of the bar stand for
  const bt = ticks(low, high, b.h / 45);
  c.beginPath();
  for (const v of bt.list) {
    const at = Math.round(b.y + (high - v) / settings.range * b.h) + .5;
    c.moveTo(b.x + b.w + 1, at); c.lineTo(b.x + b.w + 5, at);
    c.fillText(format(v, bt.digits), b.x + b.w + 9, at);
  }
  c.stroke();
  c.fillStyle = "#dbe2ec"; c.font = '13px system-ui, "DejaVu Sans", sans-serif';
  c.save(); c.translate(b.x + b.w + 52, b.y + b.h / 2); c.rotate(-Math.PI / 2); c.textAlign = "center"; c.textBaseline = "alphabetic"; c.fillText("dB", 0, 0); c.restore();
  return { ...l.cells[0].ticks, bar: bt.list };
}
function drawBitmap(c, pane, l) {
  const [x0, x1] = edge(pane.image.x).map(v => Math.round(l.toX(v * 1e3))), [z0, z1] = edge(pane.image.z).map(v => Math.round(l.toY(v * 1e3)));
  c.imageSmoothingEnabled = settings.smooth;
  c.imageSmoothingQuality = "high";
  c.drawImage(pane.bitmap, x0, z0, x1 - x0, z1 - z0);
}
let layoutKey = "", tickLists = null;
const sum = list => list.reduce((total, v) => total + v, 0);
const keyOf = pane => {
  const i = pane.image;
  return i ? [pane.stream, i.view, i.x.first, i.x.last, i.x.count, i.z.first, i.z.last, i.z.count, ...i.outlines.map(o => [o.name, o.x.length, sum(o.x), sum(o.z)])] : [pane.stream];
};
function describe() {
  const mm = v => format(v * 1e3, 1), views = panes.map(pane => pane.image ? pane.image.view : "").filter(Boolean).join(", ");
  const extent = (word, to) => `x ${word}${mm(image.x.first)} ${to} ${mm(image.x.last)} mm`, depth = (word, to) => `z ${word}${mm(image.z.first)} ${to} ${mm(image.z.last)} mm`;
  $("geometry").textContent = `${views ? views + " \u00b7 " : ""}${image.x.count} \u00d7 ${image.z.count} pixels \u00b7 ${extent("", "\u2026")} \u00b7 ${depth("", "\u2026")}`;
  const drawn = settings.overlay ? [...new Set(image.outlines.map(o => o.name))].join(", ") : "";
  figure.setAttribute("aria-label", `Live ultrasound image${panes.length > 1 ? `s of views ${views}` : ""}, ${extent("from ", "to")}, ${depth("from ", "to")}${drawn ? `; drawn over: ${drawn}` : ""}`);
}
function draw() {
  const ratio = window.devicePixelRatio || 1, box = figure.getBoundingClientRect();
  const width = Math.max(1, Math.round(box.width)), height = Math.max(1, Math.round(box.height));
  if (figure.width !== Math.round(width * ratio) || figure.height !== Math.round(height * ratio)) {
    figure.width = Math.round(width * ratio); figure.height = Math.round(height * ratio);
  }
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.fillStyle = "#0a0d12"; context.fillRect(0, 0, width, height);
  if (!image) { layout = null; layoutKey = ""; return; }
  const key = [width, height, ratio, settings.map, settings.range, settings.gain, settings.overlay, settings.whole, ...panes.flatMap(keyOf)].join();
  if (key !== layoutKey) {  // axes, colour bar and outlines change rarely
    layoutKey = key;
    layout = arrange(panes, width, height);
    axesLayer = axesLayer || document.createElement("canvas");
    axesLayer.width = figure.width; axesLayer.height = figure.height;
    const c = axesLayer.getContext("2d");
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    tickLists = drawAxes(c, layout);
    panes.forEach((pane, k) => drawOverlay(c, pane, layout.cells[k]));
    describe();
  }
  panes.forEach((pane, k) => { if (pane.image) drawBitmap(context, pane, layout.cells[k]); });
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.drawImage(axesLayer, 0, 0);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  drawCursor();
}
