// The cursor: one place of the part, read in every pane.
let cursor = null;  // { x, z } in m, the centre of a pixel of the pane in which it was put
const hint = $("cursor").textContent;

function valueAt(img, place) {  // at the nearest pixel: dB before gain, and the linear amplitude where the message has it; null outside
  const at = pixelAt(img, place.x, place.z);
  if (!at) return null;
  const index = (at.iz * img.ny + Math.min(slice, img.ny - 1)) * img.x.count + at.ix;
  return { decibels: decibelsOf(img, index), linear: img.encoding === 1 ? img.values[index] : null };
}
const decibelText = v => `${isFinite(v) ? format(v, 1) : "\u2212\u221e"} dB`;
const linearText = v => v === null ? "" : v.toPrecision(3);
function readings() { return panes.map(pane => ({ view: pane.image ? pane.image.view : "", ...(pane.image && cursor ? valueAt(pane.image, cursor) : null) })); }

function drawCursor() {
  const target = $("cursor");
  if (!cursor || !image || !layout) { if (target.textContent !== hint) target.textContent = hint; return; }
  const strong = text => { const b = document.createElement("b"); b.textContent = text; return b; };
  const parts = ["x ", strong(`${format(cursor.x * 1e3, 2)} mm`), " \u00a0 z ", strong(`${format(cursor.z * 1e3, 2)} mm`)];
  context.lineWidth = 1;
  readings().forEach(({ view, decibels, linear }, k) => {
    if (decibels === undefined) return;
    parts.push(` \u00a0 ${panes.length > 1 ? view + " " : ""}`, strong(decibelText(decibels)), linear === null ? "" : ` (${linearText(linear)})`);
    const l = layout.cells[k], px = l.toX(cursor.x * 1e3), py = l.toY(cursor.z * 1e3);
    context.strokeStyle = "rgba(255,255,255,.55)";
    context.beginPath();
    context.moveTo(l.x, py); context.lineTo(px - 7, py); context.moveTo(px + 7, py); context.lineTo(l.x + l.w, py);
    context.moveTo(px, l.y); context.lineTo(px, py - 7); context.moveTo(px, py + 7); context.lineTo(px, l.y + l.h);
    context.stroke();
    if (panes.length === 1) return;
    context.font = '12px system-ui, "DejaVu Sans", sans-serif';
    context.fillStyle = "#b4bfcd"; context.textAlign = "right"; context.textBaseline = "alphabetic";
    context.fillText(`${decibelText(decibels)}  ${linearText(linear)}`, l.x + l.w, l.y - 12);
  });
  target.replaceChildren(...parts);
}
function snapTo(img, at) { cursor = { x: img.x.first + at.ix * img.x.step, z: img.z.first + at.iz * img.z.step }; }
function pointAt(event) {
  if (!image || !layout) return;
  const box = figure.getBoundingClientRect(), px = event.clientX - box.left, py = event.clientY - box.top;
  const k = layout.cells.findIndex(l => px >= l.x && px <= l.x + l.w && py >= l.y && py <= l.y + l.h);
  cursor = null;
  if (k >= 0 && panes[k].image) {
    const l = layout.cells[k], img = panes[k].image, at = pixelAt(img, ((px - l.x) / l.scale + l.x0) * 1e-3, ((py - l.y) / l.scale + l.z0) * 1e-3);
    if (at) snapTo(img, at);
  }
  draw();
}
figure.onpointermove = pointAt;
figure.onpointerdown = pointAt;
figure.onpointerleave = () => { cursor = null; draw(); };
figure.onkeydown = event => {
  const move = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
  if (!move || !image) return;
  event.preventDefault();
  const n = event.shiftKey ? 10 : 1, at = cursor && pixelAt(image, cursor.x, cursor.z) || { ix: image.x.count >> 1, iz: image.z.count >> 1 };
  snapTo(image, { ix: Math.max(0, Math.min(image.x.count - 1, at.ix + n * move[0])), iz: Math.max(0, Math.min(image.z.count - 1, at.iz + n * move[1])) });
  draw();
};
