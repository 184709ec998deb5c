// The images' pixels. One reference for all panes, so that one colour means one amplitude.
let slice = 0;

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
// dB of a pixel before gain, relative to the reference.
function decibelsOf(img, index) {
  if (img.encoding !== 1) return (img.values[index] / 255 - 1) * img.range;
  return 20 * Math.log10(img.values[index] / reference());
}
function paintBitmap(pane) {
  const img = pane.image, nx = img.x.count, nz = img.z.count;
  if (!pane.data || pane.data.width !== nx || pane.data.height !== nz) {
    pane.bitmap.width = nx; pane.bitmap.height = nz;
    pane.data = pane.context.createImageData(nx, nz);
    pane.words = new Uint32Array(pane.data.data.buffer);
  }
  const top = palette.length - 1, words = pane.words;
  slice = Math.min(slice, img.ny - 1);
  if (img.encoding === 1) {
    const base = Math.round(STEPS * (20 * Math.log10(reference()) - settings.gain - settings.range)), bits = img.bits;
    for (let z = 0, to = 0; z < nz; z++) {
      for (let from = (z * img.ny + slice) * nx, end = from + nx; from < end; from++, to++) {
        const level = levelOfBits[bits[from] >>> 14] - base;
        words[to] = palette[level < 0 ? 0 : level > top ? top : level];
      }
    }
  } else {
    const ofByte = new Uint32Array(256);
    for (let b = 0; b < 256; b++) {
      const level = Math.round(STEPS * ((b / 255 - 1) * img.range + settings.gain + settings.range));
      ofByte[b] = palette[level < 0 ? 0 : level > top ? top : level];
    }
    for (let z = 0, to = 0; z < nz; z++) {
      for (let from = (z * img.ny + slice) * nx, end = from + nx; from < end; from++, to++) words[to] = ofByte[img.values[from]];
    }
  }
  pane.context.putImageData(pane.data, 0, 0);
}
