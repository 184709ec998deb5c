// The views that are shown, up to four: each pane has a stream, its newest image, and the planes of it that are drawn.
const mostPanes = 4;
let panes = [];
let image = null;  // of the first pane that has one: what status and controls tell of

// What is drawn of an image: all of it or, of a volume, planes. Which axis goes across, which down, and which is cut or projected.
const ofPlane = [{ name: "", across: "x", down: "z", normal: null }];
const ofVolume = [
  { name: "C-scan", across: "x", down: "y", normal: "z" },
  { name: "B-scan", across: "x", down: "z", normal: "y" },
  { name: "D-scan", across: "y", down: "z", normal: "x" },
];
const isVolume = img => img.ny > 1;
const axesOfVolume = ["x", "y", "z"];
function kindsOf(img) {
  if (!isVolume(img)) return ofPlane;
  const spread = ofVolume.filter(kind => img[kind.across].count > 1 && img[kind.down].count > 1);
  return spread.length ? spread : ofVolume.slice(0, 1);
}
function makePlane(pane, kind) {
  const bitmap = document.createElement("canvas");
  return { pane, kind, of: null, at: null, values: null, bits: null, bitmap, context: bitmap.getContext("2d"), data: null, words: null, drawn: [] };
}
function makePane(stream) {  // "": whatever comes
  const pane = { stream, image: null, pending: null, running: 0, received: 0, fresh: true, planes: [] };
  pane.planes = ofPlane.map(kind => makePlane(pane, kind));
  return pane;
}
function setImage(pane, next) {
  pane.image = next;
  const kinds = kindsOf(next);
  if (kinds.length !== pane.planes.length || kinds.some((kind, k) => kind !== pane.planes[k].kind)) pane.planes = kinds.map(kind => makePlane(pane, kind));
  leadImage();
}
function setPanes(streams) {
  const names = streams.length ? streams : [""];
  const before = panes;
  panes = names.map(name => panes.find(pane => pane.stream === name) || makePane(name));
  if (panes.length !== before.length || panes.some((pane, k) => pane !== before[k])) forget();
  leadImage();
  layoutKey = "";
  $("readout").toggleAttribute("data-several", panes.length > 1);
}
const leadPane = () => panes.find(pane => pane.image);
function leadImage() { image = (leadPane() || { image: null }).image; }
// All planes that are drawn, in order: those of every view or, where there are volumes, of the first.
const shownPlanes = () => image && isVolume(image) ? leadPane().planes : panes.flatMap(pane => pane.planes.filter(plane => plane.kind.normal === null));
const paneOf = stream => panes.find(pane => pane.stream === stream) || panes.find(pane => pane.stream === "");

const indexOn = (axis, place) => Math.round(axis.step ? (place - axis.first) / axis.step : 0);
const placeOn = (axis, index) => axis.first + index * axis.step;
const within = (axis, index) => Math.max(0, Math.min(axis.count - 1, index));
function pixelAt(plane, place) {  // the pixel of a place, as column and row, or null outside
  const across = plane.pane.image[plane.kind.across], down = plane.pane.image[plane.kind.down];
  const column = indexOn(across, place[plane.kind.across]), row = indexOn(down, place[plane.kind.down]);
  return column >= 0 && row >= 0 && column < across.count && row < down.count ? { column, row } : null;
}
