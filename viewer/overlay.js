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
function drawOverlay(c, plane, l) {
  const img = plane.pane.image;
  plane.drawn = [];
  if (!settings.overlay || !img || plane.kind.across !== "x" || plane.kind.down !== "z" || isOffPart(img)) return;  // outlines are lines in x and z
  c.save();
  c.beginPath();
  c.rect(l.x, l.y - 8, l.w, l.h + 8);
  c.clip();
  for (const { name, x, z } of img.outlines) {
    const px = x.map(v => l.toX(v * img.x.scale)), py = z.map(v => l.toY(v * img.z.scale));
    plane.drawn.push(name);
    if (name !== "probe") {
      c.save();
      c.beginPath(); c.rect(l.x, l.y, l.w, l.h); c.clip();
      strokeOutline(c, name, 1.5, () => px.forEach((at, k) => k ? c.lineTo(at, py[k]) : c.moveTo(at, py[k])));
      c.restore();
      continue;
    }
    // A probe above the image stands on its upper edge, in its own shape: of a curved one the lowest elements do. One that reaches into
    // the image is where it is; what of it lies above is cut off.
    const lift = Math.max(0, l.y - 4 - Math.max(...py));
    py.forEach((y, k) => { py[k] = y + lift; });
    strokeOutline(c, name, 3, () => px.forEach((at, k) => {
      // From the neighbours, but not from the end of a row of a matrix array to the beginning of the next.
      const apart = j => j in px ? Math.hypot(px[j] - px[k], py[j] - py[k]) : Infinity, reach = 1.5 * Math.min(apart(k - 1), apart(k + 1));
      const before = apart(k - 1) <= reach ? k - 1 : k, after = apart(k + 1) <= reach ? k + 1 : k;
      const n = 2.6 * (after - before), alone = !isFinite(reach), dx = alone ? 3 : (px[after] - px[before]) / n, dy = alone ? 0 : (py[after] - py[before]) / n;
      c.moveTo(at - dx, py[k] - dy); c.lineTo(at + dx, py[k] + dy);
    }));
  }
  c.restore();
}
