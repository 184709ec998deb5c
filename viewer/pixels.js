// The images' pixels. One reference for all panes, so that one colour means one amplitude.
// Images with a sign, such as velocities of flow, and shares are shown as numbers instead of dB: colours go both ways from 0, as far as
// the image says that they may, or else the largest so far.
const shownAsNumbers = new Set(["velocity", "initial pressure", "concentration", "oxygen saturation"]);
const isSigned = img => img.encoding === 1 && shownAsNumbers.has(img.pixelName);
const leastColour = img => img.pixelName === "velocity" ? .4 : 0;
const allSigned = () => panes.some(pane => pane.image) && panes.every(pane => !pane.image || isSigned(pane.image));
const signedLimit = () => Math.max(0, ...panes.map(pane => pane.image && isSigned(pane.image) ? pane.image.limit || pane.running : 0)) || 1;
function peakOf(img) {
  let peak = 0;
  const v = img.values, signed = isSigned(img);
  for (let i = 0; i < v.length; i++) {
    const strength = signed ? Math.abs(v[i]) : v[i];
    if (strength > peak && strength < 3e38) peak = strength;
  }
  return peak;
}
function reference() {
  if (settings.reference === "fixed" && settings.fixed > 0) return settings.fixed;
  const most = Math.max(0, ...panes.map(pane => !pane.image || isSigned(pane.image) ? 0 : settings.reference === "server" ? pane.image.reference : pane.running));
  return most > 0 ? most : 1;
}
const isPower = img => img.encoding === 1 && img.pixelName === "power";
// dB of a pixel's value before gain, relative to the reference.
function decibelsOf(img, value) {
  if (img.encoding !== 1) return (value / 255 - 1) * img.range;
  return (isPower(img) ? 10 : 20) * Math.log10(value / reference());
}
const baseLevel = (perDecade = 20) => Math.round(STEPS * (perDecade * Math.log10(reference()) - settings.gain - settings.range));
function paintBitmap(plane) {
  const img = plane.pane.image, width = img[plane.kind.across].count, height = img[plane.kind.down].count;
  cut(plane);
  if (!plane.data || plane.data.width !== width || plane.data.height !== height) {
    plane.bitmap.width = width; plane.bitmap.height = height;
    plane.data = plane.context.createImageData(width, height);
    plane.words = new Uint32Array(plane.data.data.buffer);
  }
  if (isSigned(img)) {
    const limit = signedLimit(), values = plane.values, colours = leastColour(img) ? signedPalette : gradualPalette;
    for (let k = 0; k < width * height; k++) plane.words[k] = colours[Math.round(255 * (1 + Math.max(-1, Math.min(1, values[k] / limit || 0))))];
    plane.context.putImageData(plane.data, 0, 0);
    return;
  }
  const colours = flowOver(img) ? greyPalette : palette, top = colours.length - 1, words = plane.words, pixels = width * height;
  if (img.encoding === 1) {
    const ofPower = isPower(img) ? 1 : 0, base = baseLevel(ofPower ? 10 : 20), bits = plane.bits;
    for (let k = 0; k < pixels; k++) {
      const level = (levelOfBits[bits[k] >>> 14] >> ofPower) - base;
      words[k] = colours[level < 0 ? 0 : level > top ? top : level];
    }
  } else {
    const ofByte = new Uint32Array(256), values = plane.values;
    for (let b = 0; b < 256; b++) {
      const level = Math.round(STEPS * ((b / 255 - 1) * img.range + settings.gain + settings.range));
      ofByte[b] = colours[level < 0 ? 0 : level > top ? top : level];
    }
    for (let k = 0; k < pixels; k++) words[k] = ofByte[values[k]];
  }
  paintFlow(plane);
  plane.context.putImageData(plane.data, 0, 0);
}
