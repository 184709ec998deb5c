// Where a volume is cut, and what is projected: a slice along each axis, at a place in m that stays when the grid changes.
const slices = { x: null, y: null, z: null };  // null: the middle
const sliceIndex = (img, name) => slices[name] === null ? img[name].count >> 1 : within(img[name], indexOn(img[name], slices[name]));
const slicePlace = (img, name) => placeOn(img[name], sliceIndex(img, name));
function moveSlices(places) { Object.assign(slices, places); showSlices(); refresh(); }

function cutSlice(img, normal, at, to) {
  const nx = img.x.count, ny = img.ny, nz = img.z.count, from = img.values;
  if (normal === "z") to.set(from.subarray(at * ny * nx, (at + 1) * ny * nx));
  if (normal === "y") for (let z = 0; z < nz; z++) to.set(from.subarray((z * ny + at) * nx, (z * ny + at + 1) * nx), z * nx);
  if (normal === "x") for (let row = 0; row < nz * ny; row++) to[row] = from[row * nx + at];
}
// How much a value stands out: what is largest is shown of several, of numbers with a sign the largest magnitude; what has no value least.
function strengthIn(img) {
  if (img.encoding === 1) return isSymmetric(img) ? v => Math.abs(v) : v => v;
  return isSymmetric(img) ? v => v ? Math.abs(v - 128) : -1 : v => v;
}
// The one that stands out most along an axis. What has no value (NaN) counts only where nothing else is.
function project(img, normal, to) {
  if (isSymmetric(img)) { projectSymmetric(img, normal, to); return; }
  const nx = img.x.count, ny = img.ny, nz = img.z.count, from = img.values;
  const none = img.encoding === 1 ? -Infinity : 0;
  to.fill(none);
  for (let z = 0, row = 0; z < nz; z++) {
    for (let y = 0; y < ny; y++, row++) {
      const begin = row * nx;
      if (normal === "x") {
        let most = none;
        for (let k = begin, end = begin + nx; k < end; k++) if (from[k] > most) most = from[k];
        to[row] = most;
      } else {
        const line = (normal === "y" ? z : y) * nx;
        for (let x = 0; x < nx; x++) if (from[begin + x] > to[line + x]) to[line + x] = from[begin + x];
      }
    }
  }
  if (none < 0) for (let k = 0; k < to.length; k++) if (to[k] === none) to[k] = NaN;
}
function projectSymmetric(img, normal, to) {
  const nx = img.x.count, ny = img.ny, nz = img.z.count, from = img.values, strength = strengthIn(img);
  to.fill(img.encoding === 1 ? NaN : 0);
  for (let z = 0, k = 0; z < nz; z++) {
    for (let y = 0; y < ny; y++) {
      for (let x = 0; x < nx; x++, k++) {
        const at = normal === "x" ? z * ny + y : normal === "y" ? z * nx + x : y * nx + x;
        if (!(strength(from[k]) <= strength(to[at])) && !Number.isNaN(from[k])) to[at] = from[k];
      }
    }
  }
}
// Sets plane.values, [down, across], and their bits where they are float32, to what the plane shows of its pane's image.
function cut(plane) {
  const img = plane.pane.image, normal = plane.kind.normal;
  if (normal === null) {
    plane.values = img.values; plane.bits = img.bits;
    return;
  }
  const at = settings.projections[normal] ? "maximum" : sliceIndex(img, normal);
  if (plane.of === img && plane.at === at) return;
  const pixels = img[plane.kind.across].count * img[plane.kind.down].count;
  if (!plane.values || plane.values.length !== pixels || plane.values.constructor !== img.values.constructor) {
    plane.values = new img.values.constructor(pixels);
    plane.bits = img.encoding === 1 ? new Uint32Array(plane.values.buffer) : null;
  }
  if (at === "maximum") project(img, normal, plane.values); else cutSlice(img, normal, at, plane.values);
  plane.of = img; plane.at = at;
}
// Where along a projected axis the value comes from that a pixel shows.
function placeOfMaximum(plane, column, row) {
  const img = plane.pane.image, { across, down, normal } = plane.kind, strides = { x: 1, y: img.x.count, z: img.x.count * img.ny };
  const begin = column * strides[across] + row * strides[down];
  const strength = strengthIn(img);
  let best = 0, most = -Infinity;
  for (let k = 0; k < img[normal].count; k++) { const own = strength(img.values[begin + k * strides[normal]]); if (own > most) { most = own; best = k; } }
  return placeOn(img[normal], best);
}
const strongestOf = img => isSymmetric(img) ? "largest magnitude" : "maximum";
const millimetres = (axis, place, digits) => `${format(place * axis.scale, digits)} ${axis.shownUnit}`;
function titleOf(plane) {
  const img = plane.pane.image, { name, normal } = plane.kind;
  if (!img || normal === null) return img ? img.view : "";
  const axis = img[normal];
  return `${img.view} ${name}, ${settings.projections[normal] ? `${strongestOf(img)} along ${axis.name}` : `${axis.name} = ${millimetres(axis, slicePlace(img, normal), 1)}`}`;
}

// A slider and a choice for each axis.
for (const name of axesOfVolume) {
  $("slice-" + name).oninput = event => { if (image && isVolume(image)) moveSlices({ [name]: placeOn(image[name], Number(event.target.value)) }); };
  $("maximum-" + name).onchange = event => change({ projections: { ...settings.projections, [name]: event.target.checked } });
}
function showSlices() {
  const volume = image && isVolume(image);
  $("volumeField").hidden = !volume;
  if (!volume) return;
  for (const name of axesOfVolume) {
    const slider = $("slice-" + name), axis = image[name], at = sliceIndex(image, name);
    slider.max = axis.count - 1; slider.value = at;
    slider.disabled = axis.count === 1;
    const text = millimetres(axis, placeOn(axis, at), 2);
    slider.setAttribute("aria-valuetext", text);
    $("sliceText-" + name).textContent = settings.projections[name] ? "all" : text;
    $("sliceLabel-" + name).textContent = `Slice ${axis.name}`;
    $("maximum-" + name).checked = settings.projections[name];
  }
  $("rendering-mode").value = settings.rendering;
}
