// What lies beside the pixels: surfaces as lines, the probe's elements as bars. Drawn with a dark seam, to be seen on every colour map.
const outlineStyles = { probe: ["#56c8ff", []], surface: ["#ffffff", []], backwall: ["#ffffff", [7, 5]] };
function strokeOutline(c, style, width, trace) {
  const [colour, dash] = outlineStyles[style] || ["#ffffff", [2, 3]];
  for (const [stroke, extra] of [["rgba(10,13,18,.75)", 2], [colour, 0]]) {
    c.strokeStyle = stroke; c.lineWidth = width + extra;
    c.setLineDash(dash);
    c.beginPath();
    trace();
    c.stroke();
  }
  c.setLineDash([]);
}
function drawOverlay(c, pane, l) {
  pane.drawn = [];
  if (!settings.overlay || !pane.image) return;
  c.save();
  c.beginPath();
  c.rect(l.x, l.y - 8, l.w, l.h + 8);  // elements above the image stand on its upper edge
  c.clip();
  for (const { name, x, z } of pane.image.outlines) {
    const px = x.map(v => l.toX(v * 1e3)), py = z.map(v => l.toY(v * 1e3));
    pane.drawn.push(name);
    if (name !== "probe") {
      c.save();
      c.beginPath(); c.rect(l.x, l.y, l.w, l.h); c.clip();
      strokeOutline(c, name, 1.5, () => px.forEach((at, k) => k ? c.lineTo(at, py[k]) : c.moveTo(at, py[k])));
      c.restore();
      continue;
    }
    strokeOutline(c, name, 3, () => px.forEach((at, k) => {
      const before = Math.max(0, k - 1), after = Math.min(px.length - 1, k + 1), above = py[k] < l.y;
      const n = 2.6 * Math.max(1, after - before) / 2, dx = px.length > 1 ? (px[after] - px[before]) / n / 2 : 3, dy = above || px.length < 2 ? 0 : (py[after] - py[before]) / n / 2;
      const y = above ? l.y - 4 : py[k];
      c.moveTo(at - dx, y - dy); c.lineTo(at + dx, y + dy);
    }));
  }
  c.restore();
}
