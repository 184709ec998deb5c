// The last seconds of what was shown: while the page is frozen they are stepped through, or played again and again.
const loop = { moments: [], bytes: 0, at: 0, playing: false, due: 0, speed: 1 };
const loopSeconds = 10, loopBytes = 128 * 2 ** 20, loopMoments = 1000;  // whichever is reached first
// What all panes show now; `taken` are the images that are new in it.
function remember(taken) {
  const moment = { at: performance.now(), images: panes.map(pane => pane.image), bytes: taken.reduce((total, img) => total + img.values.byteLength + flowBytes(img), 0) };
  loop.moments.push(moment);
  loop.bytes += moment.bytes;
  const { moments } = loop;
  while (moments.length > 1 && (loop.bytes > loopBytes || moments.length > loopMoments || moment.at - moments[0].at > loopSeconds * 1e3)) loop.bytes -= moments.shift().bytes;
  loop.at = moments.length - 1;
}
function forget() {
  play(false);
  Object.assign(loop, { moments: [], bytes: 0, at: 0 });
  showLoop();
}
function goTo(place) {
  const moment = loop.moments[loop.at = Math.max(0, Math.min(loop.moments.length - 1, place))];
  if (!moment) return;
  const before = image;
  moment.images.forEach((img, k) => { if (img && panes[k]) setImage(panes[k], img); });
  if (image && (!before || before.encoding !== image.encoding || gridKey(before) !== gridKey(image))) showSettings();
  refresh(); showLoop(); showState();
}
function step(by) { play(false); goTo(loop.at + by); }
// In the pace in which the images came, times the speed; from the end on from the beginning.
function advance() {
  const { moments, at, speed } = loop, last = at >= moments.length - 1;
  const gap = last ? 400 : Math.min(1000, moments[at + 1].at - moments[at].at);
  loop.due = setTimeout(() => { goTo(last ? 0 : at + 1); if (loop.playing) advance(); }, gap / speed);
}
function play(on) {
  clearTimeout(loop.due);
  loop.playing = on && paused && loop.moments.length > 1;
  if (loop.playing) advance();
  showLoop();
}
function secondsBack() {
  const newest = loop.moments[loop.moments.length - 1], shown = loop.moments[loop.at];
  return newest ? (newest.at - shown.at) / 1e3 : 0;
}
function showLoop() {
  const count = loop.moments.length;
  $("loop").hidden = !paused;
  $("loopAt").max = Math.max(0, count - 1); $("loopAt").value = loop.at;
  for (const id of ["loopBack", "loopPlay", "loopOn", "loopAt", "loopSpeed"]) $(id).disabled = count < 2;
  $("loopPlay").setAttribute("aria-pressed", String(loop.playing));
  $("loopPlay").firstChild.textContent = loop.playing ? "Stop" : "Play";
  const text = count ? `${loop.at + 1} of ${count}, ${format(-secondsBack(), 2)} s` : "no image yet";
  $("loopText").textContent = text;
  $("loopAt").setAttribute("aria-valuetext", text);
}
$("loopBack").onclick = () => step(-1);
$("loopOn").onclick = () => step(1);
$("loopPlay").onclick = () => play(!loop.playing);
$("loopAt").oninput = e => { const place = Number(e.target.value); play(false); goTo(place); };  // play() sets the slider
$("loopSpeed").onchange = e => { loop.speed = Number(e.target.value); if (loop.playing) play(true); };
