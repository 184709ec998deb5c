// The figure.
const figure = $("figure"), context = figure.getContext("2d", { alpha: false });
let layout = null, axesLayer = null, cursor = null;

const edge = axis => { const half = axis.step ? axis.step / 2 : 0.5e-3; return [axis.first - half, axis.last + half]; };
function ticks(low, high, most) {
  const raw = (high - low) / Math.max(1, most), power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map(k => k * power).find(s => s >= raw * 0.999);
  const list = [];
  for (let n = Math.ceil(low / step - 1e-9); n * step <= high + 1e-9 * step; n++) list.push(n * step);
  return { list, digits: Math.max(0, -Math.floor(Math.log10(step) + 1e-9)) };
}
// Places everything in a figure of width x height CSS pixels: one mm is as long along x as along z.
function arrange(img, width, height, title) {
  const [x0, x1] = edge(img.x).map(v => v * 1e3), [z0, z1] = edge(img.z).map(v => v * 1e3);
  const left = 66, right = 92, topMargin = title ? 44 : 16, bottom = 52;
  const scale = Math.max(1e-3, Math.min((width - left - right) / (x1 - x0), (height - topMargin - bottom) / (z1 - z0)));
  const w = (x1 - x0) * scale, h = (z1 - z0) * scale;
  const x = left + Math.max(0, (width - left - right - w) / 2), y = topMargin + Math.max(0, (height - topMargin - bottom - h) / 2);
  return { width, height, x, y, w, h, x0, x1, z0, z1, scale, bar: { x: x + w + 20, y, w: 14, h }, title,
           toX: mm => x + (mm - x0) * scale, toY: mm => y + (mm - z0) * scale };
}
const format = (v, digits) => (Math.abs(v) < 1e-9 ? 0 : v).toFixed(digits).replace("-", "\u2212");
function drawAxes(c, l) {
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
  if (l.title) { c.textAlign = "left"; c.fillText(l.title, l.x, l.y - 16); }

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
  return { x: xt.list, z: zt.list, bar: bt.list };
}
function drawBitmap(c, l) {
  c.imageSmoothingEnabled = settings.smooth;
  c.imageSmoothingQuality = "high";
  c.drawImage(bitmap, Math.round(l.x), Math.round(l.y), Math.round(l.w), Math.round(l.h));
}
let layoutKey = "", tickLists = null;
function draw() {
  const ratio = window.devicePixelRatio || 1, box = figure.getBoundingClientRect();
  const width = Math.max(1, Math.round(box.width)), height = Math.max(1, Math.round(box.height));
  if (figure.width !== Math.round(width * ratio) || figure.height !== Math.round(height * ratio)) {
    figure.width = Math.round(width * ratio); figure.height = Math.round(height * ratio);
  }
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.fillStyle = "#0a0d12"; context.fillRect(0, 0, width, height);
  if (!image) return;
  const key = [width, height, ratio, settings.map, settings.range, settings.gain, image.x.first, image.x.last, image.x.count, image.z.first, image.z.last, image.z.count].join();
  if (key !== layoutKey) {  // axes and colour bar change rarely
    layoutKey = key;
    layout = arrange(image, width, height);
    axesLayer = axesLayer || document.createElement("canvas");
    axesLayer.width = figure.width; axesLayer.height = figure.height;
    const c = axesLayer.getContext("2d");
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    tickLists = drawAxes(c, layout);
    const mm = v => format(v * 1e3, 1);
    $("geometry").textContent = `${image.view ? image.view + " \u00b7 " : ""}${image.x.count} \u00d7 ${image.z.count} pixels \u00b7 x ${mm(image.x.first)} \u2026 ${mm(image.x.last)} mm \u00b7 z ${mm(image.z.first)} \u2026 ${mm(image.z.last)} mm`;
    figure.setAttribute("aria-label", `Live ultrasound image, x from ${mm(image.x.first)} to ${mm(image.x.last)} mm, z from ${mm(image.z.first)} to ${mm(image.z.last)} mm`);
  }
  drawBitmap(context, layout);
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.drawImage(axesLayer, 0, 0);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  drawCursor();
}
const hint = $("cursor").textContent;
function drawCursor() {
  if (!cursor || !image) { if ($("cursor").textContent !== hint) $("cursor").textContent = hint; return; }
  const { ix, iz } = cursor;
  if (ix >= image.x.count || iz >= image.z.count) { cursor = null; return; }
  const x = image.x.first + ix * image.x.step, z = image.z.first + iz * image.z.step;
  const db = decibelsOf(image, (iz * image.ny + slice) * image.x.count + ix);
  $("cursor").innerHTML = `x <b>${format(x * 1e3, 2)} mm</b> &nbsp; z <b>${format(z * 1e3, 2)} mm</b> &nbsp; <b>${isFinite(db) ? format(db, 1) : "\u2212\u221e"} dB</b>`;
  const px = layout.toX(x * 1e3), py = layout.toY(z * 1e3);
  context.strokeStyle = "rgba(255,255,255,.55)"; context.lineWidth = 1;
  context.beginPath();
  context.moveTo(layout.x, py); context.lineTo(px - 7, py); context.moveTo(px + 7, py); context.lineTo(layout.x + layout.w, py);
  context.moveTo(px, layout.y); context.lineTo(px, py - 7); context.moveTo(px, py + 7); context.lineTo(px, layout.y + layout.h);
  context.stroke();
}
