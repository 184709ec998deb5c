// Messages: Protocol Buffers, read by hand.
const signed = v => v % 2 ? -(v + 1) / 2 : v / 2;  // of a sint64
function* fields(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  const varint = () => {
    let value = 0, factor = 1;
    for (let n = 0; n < 10; n++) {
      if (at >= bytes.length) throw new Error("cut short");
      const b = bytes[at++];
      value += (b & 127) * factor;  // exact to 2^53; times in nanoseconds lose their last bits
      if (b < 128) return value;
      factor *= 128;
    }
    throw new Error("varint too long");
  };
  while (at < bytes.length) {
    const tag = varint(), number = Math.floor(tag / 8);
    switch (tag % 8) {
      case 0: yield [number, varint()]; break;
      case 1: if (at + 8 > bytes.length) throw new Error("cut short"); yield [number, view.getFloat64(at, true)]; at += 8; break;
      case 5: if (at + 4 > bytes.length) throw new Error("cut short"); yield [number, view.getFloat32(at, true)]; at += 4; break;
      case 2: {
        const length = varint();
        if (at + length > bytes.length) throw new Error("cut short");
        yield [number, bytes.subarray(at, at + length)];
        at += length;
        break;
      }
      default: throw new Error("unknown wire type");
    }
  }
}
const utf8 = new TextDecoder();
const shownUnits = { m: [1e3, "mm"], s: [1e6, "\u00b5s"], Hz: [1e-6, "MHz"], rad: [180 / Math.PI, "\u00b0"], degrees: [1, "\u00b0"] };
function decodeAxis(bytes, name) {
  const axis = { first: 0, last: 0, count: 0, name, unit: "m" };
  for (const [n, v] of fields(bytes)) {
    if (n === 1) axis.first = v; else if (n === 2) axis.last = v; else if (n === 3) axis.count = v; else if (n === 4) axis.name = utf8.decode(v); else if (n === 5) axis.unit = utf8.decode(v);
  }
  // Delays are microseconds; the time over which an image scrolls is not.
  [axis.scale, axis.shownUnit] = (axis.name !== "time" && shownUnits[axis.unit]) || [1, axis.unit];
  if (!(axis.count > 0) || !isFinite(axis.first) || !isFinite(axis.last)) throw new Error("bad axis");
  axis.step = axis.count > 1 ? (axis.last - axis.first) / (axis.count - 1) : 0;
  return axis;
}
function decodeLines(bytes) {  // where arrays [line, range] lie: image.proto
  const lines = { apexX: 0, apexZ: 0, radius: 0, angle: 0 };
  for (const [n, v] of fields(bytes)) if (n === 1) lines.apexX = v; else if (n === 2) lines.apexZ = v; else if (n === 3) lines.radius = v; else if (n === 4) lines.angle = v;
  return Object.values(lines).every(isFinite) ? lines : null;
}
function decodePair(bytes) {
  let name = "", count = 0;
  for (const [n, v] of fields(bytes)) if (n === 1) name = utf8.decode(v); else if (n === 2) count = v;
  return [name, count];
}
const pixelScales = ["decibels", "power_decibels", "from_zero", "symmetric"];  // image.proto
const mostOutlines = 8, mostOutlinePoints = 256;
function decodeOutline(bytes) {
  const outline = { name: "", x: [], z: [] };
  const numbers = v => Array.from(new Float32Array(v.slice(0, v.length & ~3).buffer));
  for (const [n, v] of fields(bytes)) if (n === 1) outline.name = utf8.decode(v); else if (n === 2) outline.x = numbers(v); else if (n === 3) outline.z = numbers(v);
  const right = outline.x.length === outline.z.length && outline.x.length <= mostOutlinePoints && outline.x.concat(outline.z).every(isFinite);
  return right ? outline : null;
}
function decodeImage(buffer) {
  const image = { scale: "decibels", masked: false, places: null, stream: "", sequence: 0, view: "", publishTime: 0, latency: 0, encoding: 0, range: 0, gain: 0, reference: 0, stages: [], drops: [], published: 0, revision: 0, position: null, pixelName: "amplitude", pixelUnit: "", limit: 0, lines: null, outlines: [] };
  for (const [n, v] of fields(new Uint8Array(buffer))) {
    switch (n) {
      case 1: image.stream = utf8.decode(v); break;
      case 2: image.sequence = v; break;
      case 3: image.view = utf8.decode(v); break;
      case 5: image.publishTime = v; break;
      case 6: image.latency = v; break;
      case 7: image.x = decodeAxis(v, "x"); break;
      case 8: image.z = decodeAxis(v, "z"); break;
      case 9: image.y = decodeAxis(v, "y"); break;
      case 10: image.encoding = v; break;
      case 11: image.range = v; break;
      case 12: image.gain = v; break;
      case 13: image.reference = v; break;
      case 14: image.stages.push(decodePair(v)); break;
      case 15: image.drops.push(decodePair(v)); break;
      case 16: image.published = v; break;
      case 19: image.revision = v; break;
      case 20: { const outline = decodeOutline(v); if (outline && image.outlines.length < mostOutlines) image.outlines.push(outline); break; }
      case 21: image.pixelName = utf8.decode(v); break;
      case 22: image.pixelUnit = utf8.decode(v); break;
      case 23: image.position = signed(v); break;
      case 24: image.limit = v > 0 && isFinite(v) ? v : 0; break;
      case 25: image.lines = decodeLines(v); break;
      case 26: image.scale = pixelScales[v]; break;
      case 27: image.masked = v !== 0; break;
      case 29: image.places = v; break;
      case 100: image.bytes = v; break;
    }
  }
  if (!image.x || !image.z || !image.bytes) throw new Error("not an image");
  if (!image.scale) throw new Error("unknown pixel scale");
  image.ny = image.y ? image.y.count : 1;
  const pixels = image.x.count * image.z.count * image.ny;
  if (image.bytes.length !== pixels * (image.encoding === 1 ? 4 : 1)) throw new Error("pixels contradict the geometry");
  if (image.encoding === 1) {
    const aligned = image.bytes.slice().buffer;
    image.values = new Float32Array(aligned);
    image.bits = new Uint32Array(aligned);
    image.bytes = null;  // the message is not kept besides
  } else {
    image.values = image.bytes;
  }
  return image;
}
