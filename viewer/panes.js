// The views that are shown, up to four: each pane has a stream, its newest image, and a bitmap of that.
const mostPanes = 4;
let panes = [];
let image = null;  // of the first pane that has one: what status and controls tell of

function makePane(stream) {  // "": whatever comes
  const bitmap = document.createElement("canvas");
  return { stream, image: null, pending: null, running: 0, received: 0, fresh: true, drawn: [], bitmap, context: bitmap.getContext("2d"), data: null, words: null };
}
function setPanes(streams) {
  const names = streams.length ? streams : [""];
  panes = names.map(name => panes.find(pane => pane.stream === name) || makePane(name));
  leadImage();
  layoutKey = "";
  $("readout").toggleAttribute("data-several", panes.length > 1);
}
function leadImage() { image = (panes.find(pane => pane.image) || { image: null }).image; }
const paneOf = stream => panes.find(pane => pane.stream === stream) || panes.find(pane => pane.stream === "");
const pixelAt = (img, x, z) => {  // the pixel of a place, as column and row, or null outside
  const ix = Math.round(img.x.step ? (x - img.x.first) / img.x.step : 0), iz = Math.round(img.z.step ? (z - img.z.first) / img.z.step : 0);
  return ix >= 0 && iz >= 0 && ix < img.x.count && iz < img.z.count ? { ix, iz } : null;
};
