// Colour.
const anchors = {
  viridis: ["440154", "472d7b", "3b528b", "2c728e", "21918c", "28ae80", "5ec962", "addc30", "fde725"],
  inferno: ["000004", "210c4a", "57106e", "8a226a", "bc3754", "e45a31", "f98e09", "f9cb35", "fcffa4"],
  magma: ["000004", "1d1147", "51127c", "832681", "b73779", "e75263", "fc8961", "fec488", "fcfdbf"],
  grey: ["000000", "ffffff"],
};
function colour(map, t) {  // t in 0 .. 1
  if (map === "jet") return [3, 2, 1].map(c => Math.round(255 * Math.min(1, Math.max(0, 1.5 - Math.abs(4 * t - c)))));
  const list = anchors[map] || anchors.viridis, place = t * (list.length - 1), i = Math.min(Math.floor(place), list.length - 2);
  return [0, 2, 4].map(k => {
    const a = parseInt(list[i].substr(k, 2), 16), b = parseInt(list[i + 1].substr(k, 2), 16);
    return Math.round(a + (b - a) * (place - i));
  });
}
// Of images with a sign, t in -1 .. 1: red above 0, blue below, nearly black where there is nothing, so that any eye tells the two sides apart and
// sees how far they go by their lightness. The least of a velocity has colour, since where nothing flows it is 0; other images come up from
// black, as noise does.
const nearlyBlack = [16, 18, 22];
function signedColour(t, least = .4) {
  const strength = Math.abs(t), pale = Math.round(190 * strength), strong = Math.round(255 * Math.min(1, least + (least ? .6 : 1.6) * strength));
  const shown = strength < 1 / 255 ? [0, 0, 0] : t > 0 ? [strong, pale, pale] : [pale, pale, strong];
  return shown.map((part, k) => Math.max(part, nearlyBlack[k]));
}
const wordOf = ([r, g, b]) => (255 << 24 | b << 16 | g << 8 | r) >>> 0;
// What has no value is no echo of any strength: transparent in bitmaps, which lie on hatching. No map has that, grey neither.
const noValueWord = 0;
const hatchColours = ["#606060", "#8c8c8c"], hatchSide = 8;
function hatching(c) {
  if (!hatching.tile) {
    const tile = hatching.tile = document.createElement("canvas");
    tile.width = tile.height = 4 * hatchSide;  // sharp on fine screens too
    const t = tile.getContext("2d");
    t.fillStyle = hatchColours[0]; t.fillRect(0, 0, tile.width, tile.height);
    t.strokeStyle = hatchColours[1]; t.lineWidth = tile.width / 4;
    t.beginPath();
    for (const from of [-1, 0, 1]) { t.moveTo((from - .25) * tile.width, 1.25 * tile.height); t.lineTo((from + 1.25) * tile.width, -.25 * tile.height); }
    t.stroke();
  }
  const pattern = c.createPattern(hatching.tile, "repeat");
  pattern.setTransform(new DOMMatrix().scale(1 / 4));
  return pattern;
}
const makeSignedPalette = least => Uint32Array.from({ length: 511 }, (_, k) => wordOf(signedColour(k / 255 - 1, least)));
const signedPalette = makeSignedPalette(.4), gradualPalette = makeSignedPalette(0);
// Levels are in 1/32 dB. An envelope's level comes from the sign, exponent and nine leading mantissa bits of the float:
// within 0.01 dB, and no logarithm for each pixel.
const STEPS = 32, LOWEST = -32000;
const levelOfBits = new Int16Array(1 << 18);
{
  const bits = new Uint32Array(1), value = new Float32Array(bits.buffer);
  for (let i = 0; i < levelOfBits.length; i++) {
    bits[0] = (i << 14) | (1 << 13);  // the middle of the interval
    levelOfBits[i] = value[0] > 0 ? Math.max(LOWEST, Math.min(-LOWEST, Math.round(20 * STEPS * Math.log10(Math.min(value[0], 3e38))))) : LOWEST;
  }
}
// Grey of scan lines, as people know them, until another is chosen.
const mapShown = () => settings.map || (offPart() ? "grey" : "viridis");
// Numbers from 0 on, of which some may be no value.
const mapOfNumbers = () => mapShown() === "grey" ? "viridis" : mapShown();
let palette = new Uint32Array(1), greyPalette = palette, numberPalette = palette;  // the grey one beneath flow
function buildPalette() {
  const n = Math.round(settings.range * STEPS) + 1;
  const made = (map, length) => Uint32Array.from({ length }, (_, i) => wordOf(colour(map, i / (length - 1))));
  palette = made(mapShown(), n);
  greyPalette = made("grey", n);
  numberPalette = made(mapOfNumbers(), 256);
}
