// The cursor: one place of the part, read in every view. In volumes it also moves the slices, where it is dragged.
let cursor = null;      // { x, y, z } in m, y of volumes only: the centre of a pixel of the plane in which it was put
let cursorPlane = null; // that plane's kind
const hint = $("cursor").textContent;

function valueAt(plane, place) {  // at the nearest pixel: dB before gain, and the linear amplitude where the message has it; null outside
  const at = pixelAt(plane, place), img = plane.pane.image;
  if (!at) return null;
  cut(plane);
  const value = plane.values[at.row * img[plane.kind.across].count + at.column];
  return ofNumbers(img) ? { decibels: null, linear: numberOf(img, value) } : { decibels: decibelsOf(img, value), linear: img.encoding === 1 ? value : null };
}
const decibelText = v => Number.isNaN(v) ? "no value" : `${isFinite(v) ? format(v, 1) : "\u2212\u221e"} dB`;
function numberText(img, v) {
  if (Number.isNaN(v)) return "no value";
  const { factor, unit } = unitOfNumbers(img.pixelUnit, img.limit || endOf(img)), shown = v * factor;
  return `${(unit === "m/s" ? shown.toFixed(3) : shown.toPrecision(3)).replace(/-/g, "\u2212")} ${unit}`.trim();
}
const linearText = v => v === null || Number.isNaN(v) ? "" : v.toPrecision(3);
// Of a volume the plane in which the cursor stands is read, of planes every view.
const readPlane = plane => plane.kind.normal === null || plane.kind === cursorPlane;
function readings() {
  return shownPlanes().map(plane => ({ view: plane.pane.image ? plane.pane.image.view : "", plane, ...(plane.pane.image && cursor && readPlane(plane) ? valueAt(plane, cursor) : null) }))
    .filter(reading => readPlane(reading.plane));
}

function drawSliceLines(l, plane) {  // where the other planes are
  const img = plane.pane.image;
  context.strokeStyle = "rgba(86,200,255,.75)";
  context.lineWidth = 1;
  context.setLineDash([6, 4]);
  context.beginPath();
  const { across, down } = plane.kind;
  if (!settings.projections[across]) { const px = Math.round(l.toX(slicePlace(img, across) * img[across].scale)) + .5; context.moveTo(px, l.y); context.lineTo(px, l.y + l.h); }
  if (!settings.projections[down]) { const py = Math.round(l.toY(slicePlace(img, down) * img[down].scale)) + .5; context.moveTo(l.x, py); context.lineTo(l.x + l.w, py); }
  context.stroke();
  context.setLineDash([]);
}
function drawCross(l, plane) {
  const img = plane.pane.image, { across, down } = plane.kind, px = l.toX(cursor[across] * img[across].scale), py = l.toY(cursor[down] * img[down].scale);
  context.lineWidth = 1;
  context.strokeStyle = "rgba(255,255,255,.55)";
  context.beginPath();
  context.moveTo(l.x, py); context.lineTo(px - 7, py); context.moveTo(px + 7, py); context.lineTo(l.x + l.w, py);
  context.moveTo(px, l.y); context.lineTo(px, py - 7); context.moveTo(px, py + 7); context.lineTo(px, l.y + l.h);
  context.stroke();
}
function drawCursor() {
  const target = $("cursor"), planes = shownPlanes();
  if (image && layout && isVolume(image)) planes.forEach((plane, k) => drawSliceLines(layout.cells[k], plane));
  if (!cursor || !image || !layout) { if (target.textContent !== hint) target.textContent = hint; return; }
  const strong = text => { const b = document.createElement("b"); b.textContent = text; return b; };
  const parts = (isVolume(image) ? axesOfVolume : ["x", "z"]).flatMap((name, k) => [`${k ? " \u00a0 " : ""}${image[name].name} `, strong(millimetres(image[name], cursor[name], 2))]);
  for (const { view, plane, decibels, linear } of readings()) {
    if (decibels === undefined) continue;
    const { pixelUnit } = plane.pane.image, { normal } = plane.kind;
    const of = normal !== null && settings.projections[normal] ? `${strongestOf(image)} along ${image[normal].name} ` : panes.length > 1 ? view + " " : "";
    const number = ofNumbers(plane.pane.image), value = number ? numberText(plane.pane.image, linear) : decibelText(decibels);
    parts.push(` \u00a0 ${of}`, strong(value), number || linear === null || Number.isNaN(linear) ? "" : ` (${linearText(linear)}${pixelUnit && " " + pixelUnit})`);
    const moving = flowAt(plane, cursor);
    if (moving) parts.push(" \u00a0 ", strong(flowText(moving)));
    if (panes.length === 1 || normal !== null) continue;
    const l = layout.cells[planes.indexOf(plane)];
    context.font = '12px system-ui, "DejaVu Sans", sans-serif';
    context.fillStyle = "#b4bfcd"; context.textAlign = "right"; context.textBaseline = "alphabetic";
    context.fillText(number ? value : `${decibelText(decibels)}  ${linearText(linear)}`, l.x + l.w, l.y - 12);
  }
  planes.forEach((plane, k) => { if (plane.pane.image && pixelAt(plane, cursor)) drawCross(layout.cells[k], plane); });
  target.replaceChildren(...parts);
}
// Puts the cursor on a pixel. Off a plane of a volume it stands on the slice or, of a projection, where the maximum is.
function snapTo(plane, at) {
  const img = plane.pane.image, { across, down, normal } = plane.kind;
  cursor = { [across]: placeOn(img[across], at.column), [down]: placeOn(img[down], at.row) };
  cursorPlane = plane.kind;
  if (normal !== null) cursor[normal] = settings.projections[normal] ? placeOfMaximum(plane, at.column, at.row) : slicePlace(img, normal);
}
function followCursor() { if (cursor && image && isVolume(image)) moveSlices(cursor); else draw(); }
function pointAt(event) {
  if (!image || !layout) return;
  const box = figure.getBoundingClientRect(), px = event.clientX - box.left, py = event.clientY - box.top;
  const k = layout.cells.findIndex(l => px >= l.x && px <= l.x + l.w && py >= l.y && py <= l.y + l.h), plane = shownPlanes()[k];
  cursor = null;
  if (plane && plane.pane.image) {
    const l = layout.cells[k], img = plane.pane.image, { across, down } = plane.kind;
    const at = pixelAt(plane, { [across]: l.fromX(px) / img[across].scale, [down]: l.fromY(py) / img[down].scale });
    if (at) snapTo(plane, at);
  }
  if (event.buttons & 1) followCursor(); else draw();
}
figure.onpointermove = pointAt;
figure.onpointerdown = pointAt;
figure.onpointerleave = () => { cursor = null; draw(); };
figure.onkeydown = event => {
  const move = { ArrowLeft: [-1, 0, 0], ArrowRight: [1, 0, 0], ArrowUp: [0, -1, 0], ArrowDown: [0, 1, 0], PageUp: [0, 0, -1], PageDown: [0, 0, 1] }[event.key];
  if (!move || !image) return;
  const planes = shownPlanes().filter(plane => plane.pane.image), plane = planes.find(p => p.kind === cursorPlane) || planes[0];
  if (!plane || (move[2] && plane.kind.normal === null)) return;
  event.preventDefault();
  const n = event.shiftKey ? 10 : 1, img = plane.pane.image, { across, down, normal } = plane.kind;
  const place = cursor || (isVolume(img) ? Object.fromEntries(axesOfVolume.map(name => [name, slicePlace(img, name)])) : null);
  const at = place && pixelAt(plane, place) || { column: img[across].count >> 1, row: img[down].count >> 1 };
  if (move[2]) slices[normal] = placeOn(img[normal], within(img[normal], sliceIndex(img, normal) + n * move[2]));
  snapTo(plane, { column: within(img[across], at.column + n * move[0]), row: within(img[down], at.row + n * move[1]) });
  followCursor();
};
