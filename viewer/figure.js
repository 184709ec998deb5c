// The figure: a grid of axes with a plane each, and a place for the volume in perspective.
const figure = $("figure"), context = figure.getContext("2d", { alpha: false });
let layout = null, axesLayer = null;

const edge = axis => { const half = axis.step ? axis.step / 2 : 0.5 / axis.scale; return [axis.first - half, axis.last + half]; };
function ticks(low, high, most) {
  const raw = (high - low) / Math.max(1, most), power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map(k => k * power).find(s => s >= raw * 0.999);
  const list = [];
  for (let n = Math.ceil(low / step - 1e-9); n * step <= high + 1e-9 * step; n++) list.push(n * step);
  return { list, digits: Math.max(0, -Math.floor(Math.log10(step) + 1e-9)) };
}
// What a pane's axes hold, in the units that are shown (mm): the image, and with `whole` probe and surfaces too.
function extentOf(img, kind) {
  const along = name => {
    let [low, high] = edge(img[name]).map(v => v * img[name].scale);
    if (!settings.whole || name === "y" || isOffPart(img)) return [low, high];  // outlines are lines in x and z
    const room = name === "z" ? 1 : 0;
    for (const outline of img.outlines) {
      low = Math.min(low, ...outline[name].map(v => v * img[name].scale - room)); high = Math.max(high, ...outline[name].map(v => v * img[name].scale + room));
    }
    return [low, high];
  };
  const [x0, x1] = along(kind.across), [z0, z1] = along(kind.down);
  return { x0, x1, z0, z1, alike: img[kind.across].unit === img[kind.down].unit };
}
const margins = { left: 66, right: 14, top: 34, bottom: 52 }, barWidth = 78;
// CSS pixels a mm, the same across and down; axes of different units, as range and angle, each fill the room that there is.
function scalesIn(e, width, height) {
  const across = Math.max(1e-3, (width - margins.left - margins.right) / (e.x1 - e.x0)), down = Math.max(1e-3, (height - margins.top - margins.bottom) / (e.z1 - e.z0));
  return e.alike ? [Math.min(across, down), Math.min(across, down)] : [across, down];
}
// Places everything in a figure of width x height CSS pixels: a grid of axes, one mm as long across as down, and one colour bar.
// x0, x1 of a cell are the ends across, z0, z1 those down, whatever these axes are. Planes of a volume have one scale, so that they
// are in line with each other: C-scan above B-scan, D-scan beside it. In the fourth place the volume is rendered.
function arrange(shown, width, height, headline) {
  const lead = shown.find(plane => plane.pane.image), top = headline ? 30 : 0, volume = isVolume(lead.pane.image), rendered = renderingWanted();
  const imageOf = plane => (plane.pane.image ? plane : lead).pane.image;
  const places = shown.map((_, k) => rendered && k > 0 ? k + 1 : k), count = shown.length + (rendered ? 1 : 0);
  const extents = shown.map(plane => extentOf(imageOf(plane), plane.kind)), grids = { 1: [[1, 1]], 2: [[2, 1], [1, 2]], 3: [[3, 1], [2, 2], [1, 3]] }[count] || [[2, 2]];
  // Bars are beside each other, or above each other where they would take more than two fifths of a narrow window.
  const shownBars = barsOf(shown), barColumns = Math.max(1, Math.min(shownBars.length, Math.floor(.4 * width / barWidth))), barRows = Math.ceil(shownBars.length / barColumns);
  const barsWidth = Math.ceil(shownBars.length / barRows) * barWidth + 10, size = ([columns, rows]) => [(width - barsWidth) / columns, (height - top) / rows];
  const fit = grid => Math.min(...extents.flatMap(e => scalesIn(e, ...size(grid))));
  const grid = grids.reduce((best, other) => fit(other) > fit(best) ? other : best), [w, h] = size(grid);
  const corner = place => ({ left: (place % grid[0]) * w, above: top + Math.floor(place / grid[0]) * h });
  const cells = shown.map((plane, k) => {
    const e = extents[k], of = imageOf(plane), label = axis => axis.shownUnit ? `${axis.name} [${axis.shownUnit}]` : axis.name, { left, above } = corner(places[k]), [across, down] = volume ? [fit(grid), fit(grid)] : scalesIn(e, w, h);
    const cell = { ...e, w: (e.x1 - e.x0) * across, h: (e.z1 - e.z0) * down, title: titleOf(plane), labels: { x: label(of[plane.kind.across]), z: label(of[plane.kind.down]) } };
    cell.x = left + margins.left + Math.max(0, (w - margins.left - margins.right - cell.w) / 2);
    cell.y = above + margins.top + Math.max(0, (h - margins.top - margins.bottom - cell.h) / 2);
    cell.toX = shown => cell.x + (shown - e.x0) * across;
    cell.toY = shown => cell.y + (shown - e.z0) * down;
    cell.fromX = px => (px - cell.x) / across + e.x0;
    cell.fromY = py => (py - cell.y) / down + e.z0;
    return cell;
  });
  const ends = [Math.min(...cells.map(c => c.y)), Math.max(...cells.map(c => c.y + c.h))];
  const right = Math.max(...cells.map(c => c.x + c.w), ...(rendered ? [width - barsWidth - 14] : []));
  const { left, above } = corner(1);
  const rendering = rendered ? { x: left + 14, y: above + margins.top, w: w - 28, h: h - margins.top - 14 } : null;
  if (rendering) ends[0] = Math.min(ends[0], rendering.y);
  if (barRows > 1) { ends[0] = top + margins.top; ends[1] = height - margins.bottom; }
  const gap = barRows > 1 ? 40 : 0, barHeight = (ends[1] - ends[0] + gap) / barRows;
  const bars = shownBars.map((bar, k) => ({ ...bar, x: right + 20 + Math.floor(k / barRows) * barWidth, y: ends[0] + k % barRows * barHeight, w: 14, h: barHeight - gap }));
  return { width, height, grid, cells, headline, rendering, bars };
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
  c.fillText(l.labels.x, l.x + l.w / 2, l.y + l.h + 42);
  c.save(); c.translate(l.x - 46, l.y + l.h / 2); c.rotate(-Math.PI / 2); c.fillText(l.labels.z, 0, 0); c.restore();
  if (l.title) { c.textAlign = "left"; c.fillText(l.title, l.x, l.y - 12); }
  return { x: xt.list, z: zt.list };
}
// The unit in which numbers of up to `end` are read, with a prefix where it takes one: mm/s for less than 0.1 m/s.
const raised = text => text.replace(/[-\d]/g, c => c === "-" ? "\u207b" : "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079"[c]);
function unitOfNumbers(unit, end) {
  if (unit === "m/s" && end < .1) return { factor: 1e3, unit: "mm/s" };
  if (unit === "Pa" && end >= 1e3) return end >= 1e6 ? { factor: 1e-6, unit: "MPa" } : { factor: 1e-3, unit: "kPa" };
  return { factor: 1, unit: unit.replace(/\^(\d)/g, (_, digit) => raised(digit)) };
}
// On a bar with a power of ten besides, where numbers would have many digits.
function unitOnBar(unitOf, end) {
  const { factor, unit } = unitOfNumbers(unitOf, end), named = unit || (end === 1 ? "" : "arbitrary units"), shown = end * factor;
  if (!(shown > 0) || (shown >= .01 && shown < 1e4)) return { factor, unit: named };
  const power = Math.floor(Math.log10(shown));
  return { factor: factor / 10 ** power, unit: `10${raised(String(power))} ${named}` };
}
function barOfNumbers(img, end) {
  const { factor, unit } = unitOnBar(img.pixelUnit, end), symmetric = isSymmetric(img);
  return { low: symmetric ? -end * factor : 0, high: end * factor, label: img.pixelName + (unit && ` [${unit}]`),
           colourAt: symmetric ? t => signedColour(2 * t - 1, leastColour(img)) : t => colour(mapOfNumbers(), t) };
}
// A bar for each scale that the planes have, and one for flow over them.
function barsOf(planes) {
  const images = planes.map(plane => plane.pane.image).filter(Boolean), keys = images.map(scaleKey), of = shownFlow(), map = of ? "grey" : mapShown();
  const decibels = { low: -settings.range - settings.gain, high: -settings.gain, colourAt: t => colour(map, t) }, several = new Set(keys).size > 1;
  const barOf = img => ofNumbers(img) ? barOfNumbers(img, endOf(img)) : { ...decibels, label: several || img.scale === "power_decibels" ? `${img.pixelName} [dB]` : "dB" };
  const masked = key => images.some((img, k) => keys[k] === key && img.masked);
  const bars = images.filter((img, k) => keys.indexOf(keys[k]) === k).map(img => ({ ...barOf(img), masked: masked(scaleKey(img)) }));
  return of ? [...bars, { ...flowBar(of), flow: true }] : bars;
}
// A colour bar; returns its ticks.
function drawBar(c, b) {
  const { low, high, label, colourAt } = b;
  for (let i = 0, n = Math.max(2, Math.round(b.h)); i < n; i++) {
    const [r, g, bl] = colourAt(1 - i / (n - 1));
    c.fillStyle = `rgb(${r},${g},${bl})`;
    c.fillRect(b.x, b.y + i * b.h / n, b.w, b.h / n + .6);
  }
  c.strokeStyle = "#56647a"; c.strokeRect(Math.round(b.x) - .5, Math.round(b.y) - .5, b.w + 1, Math.round(b.h) + 1);
  c.fillStyle = "#b4bfcd"; c.font = '12px system-ui, "DejaVu Sans", sans-serif'; c.textAlign = "left"; c.textBaseline = "middle";
  const bt = ticks(low, high, b.h / 45), texts = bt.list.map(v => format(v, bt.digits)), beside = b.w + Math.max(52, 25 + Math.max(...texts.map(text => c.measureText(text).width)));
  c.beginPath();
  bt.list.forEach((v, k) => {
    const at = Math.round(b.y + (high - v) / (high - low) * b.h) + .5;
    c.moveTo(b.x + b.w + 1, at); c.lineTo(b.x + b.w + 5, at);
    c.fillText(texts[k], b.x + b.w + 9, at);
  });
  c.stroke();
  c.fillStyle = "#dbe2ec"; c.font = '13px system-ui, "DejaVu Sans", sans-serif';
  c.save(); c.translate(b.x + beside, b.y + b.h / 2); c.rotate(-Math.PI / 2); c.textAlign = "center"; c.textBaseline = "alphabetic"; c.fillText(label, 0, 0); c.restore();
  if (b.masked) {
    const y = b.y + b.h + 14;
    c.fillStyle = hatching(c); c.fillRect(b.x, y, b.w, b.w);
    c.strokeRect(Math.round(b.x) - .5, Math.round(y) - .5, b.w + 1, b.w + 1);
    c.fillStyle = "#b4bfcd"; c.font = '12px system-ui, "DejaVu Sans", sans-serif'; c.textAlign = "left"; c.textBaseline = "middle";
    c.fillText("no value", b.x + b.w + 6, y + b.w / 2 + .5);
  }
  return bt.list;
}
function drawAxes(c, l) {
  for (const cell of l.cells) cell.ticks = drawCellAxes(c, cell);
  if (l.headline) { c.textAlign = "left"; c.textBaseline = "alphabetic"; c.fillText(l.headline, l.cells[0].x, 22); }
  const bars = l.bars.map(bar => ({ flow: Boolean(bar.flow), label: bar.label, masked: Boolean(bar.masked), ticks: drawBar(c, bar) })), ofFlow = bars.find(bar => bar.flow);
  return { ...l.cells[0].ticks, bar: bars[0].ticks, flow: ofFlow ? ofFlow.ticks : null, bars };
}
function drawBitmap(c, plane, l) {
  const across = plane.pane.image[plane.kind.across], down = plane.pane.image[plane.kind.down];
  const [x0, x1] = edge(across).map(v => Math.round(l.toX(v * across.scale))), [z0, z1] = edge(down).map(v => Math.round(l.toY(v * down.scale)));
  if (plane.pane.image.masked || plane.pane.image.encoding === 1) { c.fillStyle = hatching(c); c.fillRect(x0, z0, x1 - x0, z1 - z0); }  // seen where pixels have no value
  c.imageSmoothingEnabled = settings.smooth;
  c.imageSmoothingQuality = "high";
  c.drawImage(plane.bitmap, x0, z0, x1 - x0, z1 - z0);
}
let layoutKey = "", tickLists = null;
const sum = list => list.reduce((total, v) => total + v, 0);
const keyOf = plane => {
  const i = plane.pane.image;
  return i ? [plane.pane.stream, titleOf(plane), gridKey(i), ...i.outlines.map(o => [o.name, o.x.length, sum(o.x), sum(o.z)])] : [plane.pane.stream];
};
function describe() {
  const range = (axis, word, to) => `${axis.name} ${word}${format(axis.first * axis.scale, 1)} ${to} ${format(axis.last * axis.scale, 1)} ${axis.shownUnit}`, views = panes.map(pane => pane.image ? pane.image.view : "").filter(Boolean).join(", ");
  const axes = [image.x, image.y, image.z].filter(Boolean), extents = (word, to) => axes.map(axis => range(axis, word, to));
  $("geometry").textContent = [views, `${axes.map(axis => axis.count).join(" \u00d7 ")} ${axes.length > 2 ? "voxels" : "pixels"}`, ...extents("", "\u2026")].filter(Boolean).join(" \u00b7 ");
  const drawn = settings.overlay ? [...new Set(image.outlines.map(o => o.name))].join(", ") : "";
  figure.setAttribute("aria-label", `Live ultrasound ${axes.length > 2 ? "volume in three planes" : "image"}${panes.length > 1 ? `s of views ${views}` : ""}, ${extents("from ", "to").join(", ")}${drawn ? `; drawn over: ${drawn}` : ""}${shownFlow() ? `; ${settings.flow} of flow over it` : ""}`);
}
function draw() {
  const ratio = window.devicePixelRatio || 1, box = figure.getBoundingClientRect();
  const width = Math.max(1, Math.round(box.width)), height = Math.max(1, Math.round(box.height));
  if (figure.width !== Math.round(width * ratio) || figure.height !== Math.round(height * ratio)) {
    figure.width = Math.round(width * ratio); figure.height = Math.round(height * ratio);
  }
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.fillStyle = "#0a0d12"; context.fillRect(0, 0, width, height);
  if (!image) { layout = null; layoutKey = ""; placeRendering(); return; }
  const planes = shownPlanes();
  const key = [width, height, ratio, mapShown(), settings.range, settings.gain, settings.overlay, settings.whole, renderingWanted(), ...barsOf(planes).flatMap(bar => [bar.low, bar.high, bar.label, bar.masked]), ...planes.flatMap(keyOf)].join();
  if (key !== layoutKey) {  // axes, colour bar and outlines change rarely
    layoutKey = key;
    layout = arrange(planes, width, height);
    placeRendering();
    axesLayer = axesLayer || document.createElement("canvas");
    axesLayer.width = figure.width; axesLayer.height = figure.height;
    const c = axesLayer.getContext("2d");
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    tickLists = drawAxes(c, layout);
    planes.forEach((plane, k) => drawOverlay(c, plane, layout.cells[k]));
    describe();
  }
  planes.forEach((plane, k) => { if (plane.pane.image) drawBitmap(context, plane, layout.cells[k]); });
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.drawImage(axesLayer, 0, 0);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  drawCursor();
}
