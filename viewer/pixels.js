// The image's pixels.
const bitmap = document.createElement("canvas"), bitmapContext = bitmap.getContext("2d");
let bitmapData = null, bitmapWords = null;
let image = null, running = 0, slice = 0;

function peakOf(img) {
  let peak = 0;
  const v = img.values;
  for (let i = 0; i < v.length; i++) if (v[i] > peak && v[i] < 3e38) peak = v[i];
  return peak;
}
function referenceOf(img) {
  if (settings.reference === "fixed" && settings.fixed > 0) return settings.fixed;
  if (settings.reference === "server") return img.reference > 0 ? img.reference : 1;
  return running > 0 ? running : 1;
}
// dB of a pixel before gain, relative to the reference.
function decibelsOf(img, index) {
  if (img.encoding !== 1) return (img.values[index] / 255 - 1) * img.range;
  return 20 * Math.log10(img.values[index] / referenceOf(img));
}
function paintBitmap(img) {
  const nx = img.x.count, nz = img.z.count;
  if (!bitmapData || bitmapData.width !== nx || bitmapData.height !== nz) {
    bitmap.width = nx; bitmap.height = nz;
    bitmapData = bitmapContext.createImageData(nx, nz);
    bitmapWords = new Uint32Array(bitmapData.data.buffer);
  }
  const top = palette.length - 1, words = bitmapWords;
  slice = Math.min(slice, img.ny - 1);
  if (img.encoding === 1) {
    const base = Math.round(STEPS * (20 * Math.log10(referenceOf(img)) - settings.gain - settings.range)), bits = img.bits;
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
  bitmapContext.putImageData(bitmapData, 0, 0);
}
