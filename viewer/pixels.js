// The images' pixels. Panes that show the same quantity on the same scale have one reference, so that one colour means one value.
// Numbers, with a sign or from 0 on, are shown as they are, others in dB.
const ofNumbers = img => img.scale === "symmetric" || img.scale === "from_zero";
const isSymmetric = img => img.scale === "symmetric";
const leastColour = img => img.pixelName === "velocity" ? .4 : 0;
const scaleKey = img => [img.scale, img.pixelName, img.pixelUnit, img.limit].join();
const imagesLike = img => panes.filter(pane => pane.image && scaleKey(pane.image) === scaleKey(img));
const allNumbers = () => panes.some(pane => pane.image) && panes.every(pane => !pane.image || ofNumbers(pane.image));
function peakOf(img) {
  let peak = 0;
  const v = img.values, symmetric = isSymmetric(img);
  for (let i = 0; i < v.length; i++) {
    const strength = symmetric ? Math.abs(v[i]) : v[i];
    if (strength > peak && strength < 3e38) peak = strength; else if (strength !== strength) img.masked = true;  // NaN: no value
  }
  return peak;
}
// The upper end of a scale of numbers: what the server says, or else the largest so far.
const endOf = img => Math.max(0, ...imagesLike(img).map(pane => pane.image.reference || pane.running)) || 1;
const lowOf = img => isSymmetric(img) ? -endOf(img) : 0;
// Levels of 8 bits: 0 is no value, 1 to 255 go from the lower end to the upper one, which is that of their own frame.
function numberOf(img, value) {
  if (img.encoding === 1) return value;
  const end = img.reference || 1, low = isSymmetric(img) ? -end : 0;
  return value ? low + (value - 1) / 254 * (end - low) : NaN;
}
const perDecade = img => img.scale === "power_decibels" ? 10 : 20;
function reference(img) {
  if (settings.reference === "fixed" && settings.fixed > 0) return perDecade(img) === 10 ? settings.fixed ** 2 : settings.fixed;  // fixed amplitudes
  const most = Math.max(0, ...imagesLike(img).map(pane => settings.reference === "server" ? pane.image.reference : pane.running));
  return most > 0 ? most : 1;
}
// dB of a pixel's value before gain, relative to the reference; NaN where it has none.
function decibelsOf(img, value) {
  if (img.encoding !== 1) return img.masked && !value ? NaN : (value / 255 - 1) * img.range;
  return perDecade(img) * Math.log10(value / reference(img));
}
const baseLevel = img => Math.round(STEPS * (perDecade(img) * Math.log10(reference(img)) - settings.gain - settings.range));
const share = t => t > 0 ? t < 1 ? t : 1 : 0;
function paintNumbers(plane, pixels) {
  const img = plane.pane.image, { values, words } = plane, end = endOf(img), low = lowOf(img);
  const colours = isSymmetric(img) ? leastColour(img) ? signedPalette : gradualPalette : numberPalette, top = colours.length - 1;
  const wordOfNumber = v => Number.isNaN(v) ? noValueWord : colours[Math.round(top * share((v - low) / (end - low)))];
  if (img.encoding === 1) {
    for (let k = 0; k < pixels; k++) words[k] = wordOfNumber(values[k]);
  } else {
    const ofByte = Uint32Array.from({ length: 256 }, (_, b) => wordOfNumber(numberOf(img, b)));
    for (let k = 0; k < pixels; k++) words[k] = ofByte[values[k]];
  }
}
function paintBitmap(plane) {
  const img = plane.pane.image, width = img[plane.kind.across].count, height = img[plane.kind.down].count;
  cut(plane);
  if (!plane.data || plane.data.width !== width || plane.data.height !== height) {
    plane.bitmap.width = width; plane.bitmap.height = height;
    plane.data = plane.context.createImageData(width, height);
    plane.words = new Uint32Array(plane.data.data.buffer);
  }
  if (ofNumbers(img)) {
    paintNumbers(plane, width * height);
    plane.context.putImageData(plane.data, 0, 0);
    return;
  }
  const colours = flowOver(img) ? greyPalette : palette, top = colours.length - 1, words = plane.words, pixels = width * height;
  if (img.encoding === 1) {
    const ofPower = perDecade(img) === 10 ? 1 : 0, base = baseLevel(img), bits = plane.bits;
    for (let k = 0; k < pixels; k++) {
      const level = (levelOfBits[bits[k] >>> 14] >> ofPower) - base;
      words[k] = (bits[k] & 0x7fffffff) > 0x7f800000 ? noValueWord : colours[level < 0 ? 0 : level > top ? top : level];  // NaN
    }
  } else {
    const ofByte = new Uint32Array(256), values = plane.values;
    for (let b = 0; b < 256; b++) {
      const level = Math.round(STEPS * ((b / 255 - 1) * img.range + settings.gain + settings.range));
      ofByte[b] = colours[level < 0 ? 0 : level > top ? top : level];
    }
    if (img.masked) ofByte[0] = noValueWord;
    for (let k = 0; k < pixels; k++) words[k] = ofByte[values[k]];
  }
  paintFlow(plane);
  plane.context.putImageData(plane.data, 0, 0);
}
