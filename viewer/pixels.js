// The images' pixels. One reference for all panes, so that one colour means one amplitude.
function peakOf(img) {
  let peak = 0;
  const v = img.values;
  for (let i = 0; i < v.length; i++) if (v[i] > peak && v[i] < 3e38) peak = v[i];
  return peak;
}
function reference() {
  if (settings.reference === "fixed" && settings.fixed > 0) return settings.fixed;
  const most = Math.max(0, ...panes.map(pane => !pane.image ? 0 : settings.reference === "server" ? pane.image.reference : pane.running));
  return most > 0 ? most : 1;
}
// dB of a pixel's value before gain, relative to the reference.
function decibelsOf(img, value) {
  if (img.encoding !== 1) return (value / 255 - 1) * img.range;
  return 20 * Math.log10(value / reference());
}
const baseLevel = () => Math.round(STEPS * (20 * Math.log10(reference()) - settings.gain - settings.range));
function paintBitmap(plane) {
  const img = plane.pane.image, width = img[plane.kind.across].count, height = img[plane.kind.down].count;
  cut(plane);
  if (!plane.data || plane.data.width !== width || plane.data.height !== height) {
    plane.bitmap.width = width; plane.bitmap.height = height;
    plane.data = plane.context.createImageData(width, height);
    plane.words = new Uint32Array(plane.data.data.buffer);
  }
  const top = palette.length - 1, words = plane.words, pixels = width * height;
  if (img.encoding === 1) {
    const base = baseLevel(), bits = plane.bits;
    for (let k = 0; k < pixels; k++) {
      const level = levelOfBits[bits[k] >>> 14] - base;
      words[k] = palette[level < 0 ? 0 : level > top ? top : level];
    }
  } else {
    const ofByte = new Uint32Array(256), values = plane.values;
    for (let b = 0; b < 256; b++) {
      const level = Math.round(STEPS * ((b / 255 - 1) * img.range + settings.gain + settings.range));
      ofByte[b] = palette[level < 0 ? 0 : level > top ? top : level];
    }
    for (let k = 0; k < pixels; k++) words[k] = ofByte[values[k]];
  }
  plane.context.putImageData(plane.data, 0, 0);
}
