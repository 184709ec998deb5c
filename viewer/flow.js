// Flow over an image: velocities, or the power of what moves, of the same frame, where that power reaches a threshold. Streams of flow
// come by the same socket as the image that they lie over, before it and of one frame with it.
const flow = { asked: [], arrived: new Map(), owed: 0, places: new Map() };
const quantityOf = stream => (stream.quantity || ["amplitude"])[0];
const flowStream = quantity => known.find(s => quantityOf(s) === quantity);
// Of volumes the streams are shown by themselves.
const flowOffered = () => Boolean(flowStream("velocity") && flowStream("power")) && !ofVolumes();
const ofFlow = stream => known.some(s => s.quantity && s.view === stream.view);
const takesFlow = name => known.some(s => s.name === name && !ofFlow(s));
// What is asked for besides the streams that are shown; four of them at most may be watched.
const flowStreams = shown => settings.flow !== "none" && flowOffered() && shown.length <= 2 && shown.some(takesFlow) ? ["velocity", "power"].map(q => flowStream(q).name) : [];
function askForFlow(names) { Object.assign(flow, { asked: names, arrived: new Map(), owed: 0 }); }

// Whether it was one of flow: those are kept until the image of their frame comes, and answered with it.
function takeFlow(next) {
  if (!flow.asked.includes(next.stream)) return false;
  flow.arrived.set(next.pixelName, next);
  flow.owed++;
  return true;
}
function attachFlow(next) {
  const velocity = flow.arrived.get("velocity"), power = flow.arrived.get("power"), same = of => of && of.sequence === next.sequence && of.revision === next.revision && of.values.length === power.values.length;
  next.owes = flow.owed;
  flow.owed = 0;
  // Over images of the part, and over lines as flow itself has them: not over what moved at one place, or how fast.
  const placed = power && (inPart(next) || gridKey(next) === gridKey(power));
  next.flow = placed && takesFlow(next.stream) && !isVolume(next) && same(power) && same(velocity) && velocity.limit > 0 ? { velocity, power } : null;
}
const flowOver = img => settings.flow !== "none" && img && img.flow || null;
const shownFlow = () => panes.map(pane => flowOver(pane.image)).find(Boolean) || null;
const flowBytes = img => img.flow ? img.flow.velocity.values.byteLength + img.flow.power.values.byteLength : 0;

// Where an image's pixels lie in an array [line, range], as places between its lines and ranges; -1 outside. Null where that is unknown.
function flowPlaces(img, of) {
  const key = [gridKey(img), gridKey(of), of.lines && Object.values(of.lines)].join("|"), known = flow.places.get(key);
  if (known !== undefined) return known;
  const same = gridKey(img) === gridKey(of);
  let places = null;
  if (same || (inPart(img) && of.lines)) {
    const { x: ranges, z: lines } = of, count = img.x.count, n = count * img.z.count;
    places = { line: new Float32Array(n).fill(-1), range: new Float32Array(n) };
    for (let k = 0; k < n; k++) {
      const column = k % count, row = Math.floor(k / count);
      const [range, line] = same ? [column, row] : placeOnLines(of, placeOn(img.x, column), placeOn(img.z, row));
      if (!(line >= -.5 && line <= lines.count - .5 && range >= -.5 && range <= ranges.count - .5)) continue;
      places.line[k] = Math.max(0, Math.min(lines.count - 1, line));
      places.range[k] = Math.max(0, Math.min(ranges.count - 1, range));
    }
  }
  if (flow.places.size > 3) flow.places.clear();
  flow.places.set(key, places);
  return places;
}
function placeOnLines(of, x, z) {
  const { apexX, apexZ, radius, angle } = of.lines, dx = x - apexX, dz = z - apexZ, along = dz / Math.cos(angle);
  const [range, at] = of.z.unit === "m" ? [along, x - along * Math.sin(angle)] : [Math.hypot(dx, dz) - radius, Math.atan2(dx, dz)];
  return [(range - of.x.first) / of.x.step, (at - of.z.first) / of.z.step];
}
// Power times the turn that a velocity is, so that what lies between pixels on either side of the Nyquist velocity is no slow flow.
function flowField(of) {
  if (of.field) return of.field;
  const { velocity, power } = of, n = power.values.length, field = { re: new Float32Array(n), im: new Float32Array(n), peak: peakOf(power) };
  for (let k = 0; k < n; k++) {
    const turn = Math.PI * velocity.values[k] / velocity.limit, p = velocity.values[k] === 0 || !(power.values[k] > 0) ? 0 : power.values[k];
    field.re[k] = p * Math.cos(turn); field.im[k] = p * Math.sin(turn);
  }
  return of.field = field;
}
const flowThreshold = peak => peak * 10 ** (settings.flowThreshold / 10);
const powerColour = share => colour("inferno", .35 + .6 * Math.max(0, Math.min(1, share)));  // from the threshold to the greatest power
const powerPalette = Uint32Array.from({ length: 256 }, (_, k) => wordOf(powerColour(k / 255)));
// Over the words that paintBitmap has painted. Linear between lines and ranges.
function paintFlow(plane) {
  const img = plane.pane.image, of = flowOver(img), places = of && flowPlaces(img, of.power);
  plane.flowPixels = 0;
  if (!places) return;
  const { re, im, peak } = flowField(of), { words } = plane, ranges = of.power.x.count, last = of.power.z.count - 1, ofPower = settings.flow === "power";
  const power = ofPower ? of.power.values : null, least = Math.max(flowThreshold(peak), Number.MIN_VALUE), decibels = -settings.flowThreshold;
  for (let k = 0; k < places.line.length; k++) {
    const line = places.line[k], range = places.range[k];
    if (line < 0) continue;
    const l = Math.floor(line), r = Math.floor(range), u = line - l, v = range - r, a = l * ranges + r, across = l < last ? ranges : 0, on = r < ranges - 1 ? 1 : 0;
    const mix = values => (1 - u) * ((1 - v) * values[a] + v * values[a + on]) + u * ((1 - v) * values[a + across] + v * values[a + across + on]);
    if (ofPower) {
      const p = mix(power);
      if (!(p >= least)) continue;
      words[k] = powerPalette[Math.round(255 * Math.max(0, 1 + 10 * Math.log10(p / peak) / decibels))];
    } else {
      const x = mix(re), y = mix(im);
      if (!(x * x + y * y >= least * least)) continue;
      words[k] = signedPalette[Math.round(255 * (1 + Math.atan2(y, x) / Math.PI))];
    }
    plane.flowPixels++;
  }
}
// At a place of the image: velocity and power, of the nearest pixel; null where none is shown.
function flowAt(plane, place) {
  const img = plane.pane.image, of = flowOver(img), places = of && flowPlaces(img, of.power), at = places && pixelAt(plane, place);
  if (!at) return null;
  const k = at.row * img.x.count + at.column, { peak } = flowField(of);
  if (places.line[k] < 0) return null;
  const pixel = Math.round(places.line[k]) * of.power.x.count + Math.round(places.range[k]), power = of.power.values[pixel], velocity = of.velocity.values[pixel];
  if (!(power >= flowThreshold(peak)) || (settings.flow === "velocity" && velocity === 0)) return null;
  return { velocity, decibels: 10 * Math.log10(power / peak) };
}
const flowText = reading => settings.flow === "power" ? `power ${decibelText(reading.decibels)}` : `velocity ${numberText(shownFlow().velocity, reading.velocity)}`;
// The colour bar: its ends, its words, and the colour of a share of it.
function flowBar(of) {
  if (settings.flow === "power") return { low: settings.flowThreshold, high: 0, label: "power [dB]", colourAt: powerColour };
  return barOfNumbers(of.velocity, of.velocity.limit);
}
