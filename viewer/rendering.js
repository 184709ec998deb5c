// The volume in perspective, turned with the mouse: WebGL 2 by three.js, which the server has beside the page and which is fetched when
// the first volume comes. Where it cannot be had, the place of the picture says why.
const rendering = { element: $("rendering"), canvas: document.querySelector("#rendering canvas"), note: document.querySelector("#rendering p"),
                    labels: [...document.querySelectorAll("#rendering span")], state: "absent", reason: "", frames: 0, share: 0.5, scene: null };
const fieldOfView = 28, background = "#0a0d12";
const renderingWanted = () => Boolean(image) && isVolume(image) && settings.rendering !== "none" && axesOfVolume.every(name => image[name].count > 1);
const renderingState = () => ({ state: rendering.state, reason: rendering.reason, frames: rendering.frames, share: rendering.share });

// Of the box in which the volume stands, its edges are 1 long along each axis: x to the right, z down and y to the viewer.
const volumeShader = {
  vertexShader: `
    varying vec3 from;
    varying vec3 ray;
    void main() {
      from = (inverse(modelMatrix) * vec4(cameraPosition, 1.0)).xyz;
      ray = position - from;
      gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
    }`,
  fragmentShader: `
    precision highp float;
    precision highp sampler3D;
    varying vec3 from;
    varying vec3 ray;
    uniform sampler3D volume;
    uniform sampler2D colours;
    uniform vec3 counts;   // voxels along the box's axes
    uniform float offset;  // a voxel's place on the colour bar is offset + slope * its byte / 255
    uniform float slope;
    uniform bool opacity;
    uniform bool symmetric;  // 0 is in the middle of the bar, and bytes of 0 have no value
    vec2 look(vec3 p) {      // the place on the bar, and how much it stands out
      float code = texture(volume, vec3(p.x, p.z, -p.y) + 0.5).r, place = clamp(offset + slope * code, 0.0, 1.0);
      return vec2(place, symmetric ? (code < 0.002 ? 0.0 : abs(2.0 * place - 1.0)) : place);
    }
    void main() {
      vec3 direction = normalize(ray), a = (-0.5 - from) / direction, b = (0.5 - from) / direction;
      vec3 nearer = min(a, b), farther = max(a, b);
      float begin = max(0.0, max(nearer.x, max(nearer.y, nearer.z))), end = min(farther.x, min(farther.y, farther.z));
      if (begin >= end) discard;
      int steps = int(ceil(length(direction * counts) * (end - begin))) + 1;  // about one a voxel
      vec3 at = from + begin * direction, step_ = direction * ((end - begin) / float(steps));
      at += 0.5 * step_;
      vec2 most = vec2(symmetric ? 0.5 : 0.0, 0.0);
      vec4 sum = vec4(0.0);
      for (int k = 0; k < 4096; k++) {
        if (k >= steps || sum.a > 0.98) break;
        vec2 here = look(at);
        if (here.y > most.y) most = here;
        if (opacity) {
          float alpha = 0.3 * here.y * here.y;
          sum += (1.0 - sum.a) * alpha * vec4(texture(colours, vec2(here.x, 0.5)).rgb, 1.0);
        }
        at += step_;
      }
      gl_FragColor = opacity ? sum : vec4(texture(colours, vec2(most.x, 0.5)).rgb, 1.0) * min(1.0, 6.0 * most.y);
    }`,
};

async function fetchThree() {
  const response = await fetch(address("/three.js", {}));
  const text = await response.text();
  if (!response.ok) throw new Error(`The volume is not drawn in perspective. ${text.trim()}`);
  const script = document.createElement("script");
  script.textContent = text;
  document.head.append(script);
  if (!window.THREE || !THREE.OrbitControls) throw new Error("The volume is not drawn in perspective: three.js did not start.");
}
async function startRendering() {
  rendering.state = "loading";
  try {
    const gl = rendering.canvas.getContext("webgl2", { alpha: false, antialias: false });
    if (!gl) throw new Error("This browser has no WebGL 2, which the picture in perspective needs. Planes and projections do without.");
    await fetchThree();
    rendering.scene = makeScene(gl);
    rendering.state = "ready";
    layoutKey = "";
    draw();
    renderVolume();
  } catch (error) {
    failRendering(error.message);
  }
}
function failRendering(reason) {
  rendering.state = "failed";
  rendering.reason = reason;
  showRenderingNote();
}
function showRenderingNote() {
  rendering.note.hidden = !rendering.reason;
  rendering.note.textContent = rendering.reason;
  rendering.canvas.hidden = rendering.state !== "ready" || Boolean(rendering.reason);
  for (const label of rendering.labels) label.hidden = rendering.canvas.hidden;
}

function makeScene(gl) {
  const renderer = new THREE.WebGLRenderer({ canvas: rendering.canvas, context: gl });
  renderer.setClearColor(background, 1);
  const camera = new THREE.PerspectiveCamera(fieldOfView, 1, 0.01, 100), controls = new THREE.OrbitControls(camera, rendering.canvas), scene = new THREE.Scene();
  controls.enableKeys = false;
  const colours = new THREE.DataTexture(new Uint8Array(4 * 256), 256, 1, THREE.RGBAFormat);
  colours.minFilter = colours.magFilter = THREE.LinearFilter;
  const uniforms = { volume: { value: null }, colours: { value: colours }, counts: { value: new THREE.Vector3() }, offset: { value: 0 }, slope: { value: 1 }, opacity: { value: false }, symmetric: { value: false } };
  const box = new THREE.BoxBufferGeometry(1, 1, 1), group = new THREE.Group();
  const material = new THREE.ShaderMaterial({ uniforms, ...volumeShader, side: THREE.BackSide, transparent: true, depthTest: false, depthWrite: false,
                                              blending: THREE.CustomBlending, blendSrc: THREE.OneFactor, blendDst: THREE.OneMinusSrcAlphaFactor });
  const mesh = new THREE.Mesh(box, material), frame = new THREE.LineSegments(new THREE.EdgesGeometry(box), new THREE.LineBasicMaterial({ color: "#56647a" }));
  mesh.renderOrder = 1;
  group.add(frame, mesh);
  const square = { x: [[0, -1, -1], [0, 1, -1], [0, 1, 1], [0, -1, 1]], y: [[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]], z: [[-1, 0, -1], [1, 0, -1], [1, 0, 1], [-1, 0, 1]] };
  const lines = {};
  for (const name of axesOfVolume) {
    const outline = new THREE.BufferGeometry().setFromPoints(square[name].map(p => new THREE.Vector3(...p).multiplyScalar(0.5)));
    lines[name] = new THREE.LineLoop(outline, new THREE.LineBasicMaterial({ color: "#56c8ff", transparent: true, opacity: 0.55 }));
    lines[name].renderOrder = 2;
    group.add(lines[name]);
  }
  scene.add(group);
  rendering.canvas.addEventListener("webglcontextlost", event => { event.preventDefault(); rendering.reason = "The graphics processor gave up the picture; it comes back by itself where it can."; showRenderingNote(); });
  rendering.canvas.addEventListener("webglcontextrestored", () => { rendering.reason = ""; rendering.scene.of = null; showRenderingNote(); renderVolume(); });
  controls.addEventListener("change", renderVolume);
  return { gl, renderer, camera, controls, scene, group, uniforms, lines, mapOf: "", of: null, bytesOf: "", shapeOf: "", bytes: null, seen: "", fence: null, began: 0, due: false };
}
function lookFromAbove() {  // from above and a little to the right, the whole box in sight
  const { camera, controls, group } = rendering.scene, half = fieldOfView / 2 * Math.PI / 180;
  const narrow = Math.atan(Math.tan(half) * Math.min(1, camera.aspect));
  camera.position.set(0.45, 0.5, 1).setLength(1.02 * group.scale.length() / 2 / Math.sin(narrow));
  controls.target.set(0, 0, 0);
  controls.update();
}
// Of float32 images the page makes the 8 bits itself, over what the colour bar shows; of numbers levels as display images have them.
function bytesOf(img) {
  if (img.encoding !== 1) return img.values;
  const s = rendering.scene, { bits, values } = img;
  if (!s.bytes || s.bytes.length !== bits.length) s.bytes = new Uint8Array(bits.length);
  if (ofNumbers(img)) {
    const end = endOf(img), low = lowOf(img);
    for (let k = 0; k < values.length; k++) s.bytes[k] = Number.isNaN(values[k]) ? 0 : Math.round(1 + 254 * share((values[k] - low) / (end - low)));
    return s.bytes;
  }
  const top = Math.round(settings.range * STEPS), base = baseLevel(img), ofPower = perDecade(img) === 10 ? 1 : 0;
  for (let k = 0; k < bits.length; k++) {
    const level = (levelOfBits[bits[k] >>> 14] >> ofPower) - base;
    s.bytes[k] = level <= 0 ? 0 : level >= top ? 255 : level * 255 / top;
  }
  return s.bytes;
}
function setVolume(img) {
  const s = rendering.scene, { uniforms } = s, counts = axesOfVolume.map(name => img[name].count), most = s.gl.getParameter(s.gl.MAX_3D_TEXTURE_SIZE);
  if (Math.max(...counts) > most) { rendering.reason = `The graphics processor takes ${most} voxels along an axis; this volume has ${counts.join(" \u00d7 ")}.`; showRenderingNote(); return false; }
  if (rendering.reason) { rendering.reason = ""; showRenderingNote(); }
  const shape = counts.join();
  if (shape !== s.shapeOf) {
    if (uniforms.volume.value) uniforms.volume.value.dispose();
    const texture = uniforms.volume.value = new THREE.DataTexture3D(null, ...counts);
    texture.format = THREE.RedFormat; texture.type = THREE.UnsignedByteType; texture.unpackAlignment = 1;
    s.shapeOf = shape; s.of = null;
    uniforms.counts.value.set(img.x.count, img.z.count, img.y.count);
  }
  const numbers = ofNumbers(img), texture = uniforms.volume.value, filter = settings.smooth && !numbers ? THREE.LinearFilter : THREE.NearestFilter;
  const bytesKey = [img.encoding !== 1 ? "" : numbers ? endOf(img) : [baseLevel(img), settings.range], settings.smooth].join();
  if (s.of !== img || s.bytesOf !== bytesKey) {
    texture.minFilter = texture.magFilter = filter;
    texture.image.data = bytesOf(img);
    texture.needsUpdate = true;
    s.of = img; s.bytesOf = bytesKey;
  }
  uniforms.slope.value = numbers ? 255 / 254 : img.encoding === 1 ? 1 : img.range / settings.range;
  uniforms.offset.value = numbers ? -1 / 254 : img.encoding === 1 ? 0 : 1 + (settings.gain - img.range) / settings.range;
  uniforms.symmetric.value = isSymmetric(img);
  uniforms.opacity.value = settings.rendering === "opacity";
  const map = isSymmetric(img) ? `symmetric ${leastColour(img)}` : numbers ? mapOfNumbers() : mapShown();
  if (s.mapOf !== map) {
    const colourAt = isSymmetric(img) ? t => signedColour(2 * t - 1, leastColour(img)) : t => colour(map, t);
    for (let k = 0; k < 256; k++) uniforms.colours.value.image.data.set([...colourAt(k / 255), 255], 4 * k);
    uniforms.colours.value.needsUpdate = true;
    s.mapOf = map;
  }
  const sizes = axesOfVolume.map(name => { const [low, high] = edge(img[name]).map(v => v * img[name].scale); return high - low; }), largest = Math.max(...sizes);
  const seen = sizes.join();
  s.group.scale.set(sizes[0] / largest, sizes[2] / largest, sizes[1] / largest);
  if (seen !== s.seen) { s.seen = seen; lookFromAbove(); }
  for (const name of axesOfVolume) {
    const axis = img[name], at = (sliceIndex(img, name) + 0.5) / axis.count - 0.5;
    s.lines[name].visible = !settings.projections[name];
    s.lines[name].position[{ x: "x", y: "z", z: "y" }[name]] = name === "z" ? -at : at;
  }
  return true;
}
function paintScene() {
  const s = rendering.scene;
  if (!setVolume(image)) return false;
  s.renderer.render(s.scene, s.camera);
  const ends = { x: [0, -0.5, 0.5], y: [0.5, -0.5, 0], z: [-0.5, 0, 0.5] };
  s.names = axesOfVolume.map(name => ({ name: image[name].name, ...onCanvas(new THREE.Vector3(...ends[name]).multiplyScalar(1.12)) }));
  s.names.forEach(({ name, x, y }, k) => {
    rendering.labels[k].textContent = name;
    rendering.labels[k].style.left = `${100 * x}%`; rendering.labels[k].style.top = `${100 * y}%`;
  });
  return true;
}
function onCanvas(inBox) {  // as shares of its width and height
  const { group, camera } = rendering.scene, at = inBox.applyMatrix4(group.matrixWorld).project(camera);
  return { x: (at.x + 1) / 2, y: (1 - at.y) / 2 };
}
rendering.place = mm => {
  const part = name => { const [low, high] = edge(image[name]).map(v => v * image[name].scale); return (mm[name] - low) / (high - low) - 0.5; };
  return onCanvas(new THREE.Vector3(part("x"), -part("z"), part("y")));
};
// Renders as soon as the graphics processor has done what it was given before: never more than one picture waits, of the newest volume.
// Where a picture takes long the next has fewer pixels, so that turning stays smooth without a graphics processor too.
function renderVolume() {
  const s = rendering.scene;
  if (!s || rendering.element.hidden || !renderingWanted()) return;
  s.due = true;
  if (!s.fence) requestAnimationFrame(renderNow);
}
function renderNow() {
  const s = rendering.scene, ratio = window.devicePixelRatio || 1;
  if (s.fence) {
    const status = s.gl.clientWaitSync(s.fence, 0, 0);
    if (status === s.gl.TIMEOUT_EXPIRED) { requestAnimationFrame(renderNow); return; }
    s.gl.deleteSync(s.fence);
    s.fence = null;
    const took = performance.now() - s.began;
    if (took > 70) rendering.share = Math.max(0.2, rendering.share * 0.75);
    if (took < 28) rendering.share = Math.min(1, rendering.share * 1.15);
  }
  if (!s.due || rendering.element.hidden || !renderingWanted() || s.gl.isContextLost()) return;
  s.due = false;
  const box = rendering.element.getBoundingClientRect(), width = Math.max(1, Math.round(box.width)), height = Math.max(1, Math.round(box.height));
  s.renderer.setPixelRatio(ratio * rendering.share);
  s.renderer.setSize(width, height, false);
  s.camera.aspect = width / height;
  s.camera.updateProjectionMatrix();
  s.began = performance.now();
  if (!paintScene()) return;
  rendering.frames++;
  s.fence = s.gl.fenceSync(s.gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
  s.gl.flush();
  requestAnimationFrame(renderNow);
}
// Puts the picture into its place of the figure; the first time, starts it.
function placeRendering() {
  const place = layout && layout.rendering;
  rendering.element.hidden = !place;
  if (!place) return;
  for (const [name, value] of Object.entries({ left: place.x, top: place.y, width: place.w, height: place.h })) rendering.element.style[name] = `${value}px`;
  if (rendering.state === "absent") startRendering();
  showRenderingNote();
  renderVolume();
}
function drawRendering(c, place) {  // into a snapshot
  if (rendering.state !== "ready" || rendering.reason) return;
  const s = rendering.scene;
  s.renderer.setPixelRatio(1);
  s.renderer.setSize(2 * place.w, 2 * place.h, false);
  s.camera.aspect = place.w / place.h;
  s.camera.updateProjectionMatrix();
  if (paintScene()) {
    c.drawImage(rendering.canvas, place.x, place.y, place.w, place.h);
    c.fillStyle = "#b4bfcd"; c.font = '13px system-ui, "DejaVu Sans", sans-serif'; c.textAlign = "center"; c.textBaseline = "middle";
    for (const { name, x, y } of s.names) c.fillText(name, place.x + x * place.w, place.y + y * place.h);
  }
  renderVolume();  // in its own size again
}
rendering.canvas.addEventListener("dblclick", () => { if (rendering.scene) lookFromAbove(); });
rendering.canvas.addEventListener("keydown", event => {
  const turn = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key], s = rendering.scene;
  if (!s || (!turn && event.key !== "Home")) return;
  event.preventDefault();
  if (!turn) { lookFromAbove(); return; }
  const way = new THREE.Spherical().setFromVector3(s.camera.position.clone().sub(s.controls.target));
  way.theta += 0.1 * turn[0];
  way.phi = Math.max(0.01, Math.min(Math.PI - 0.01, way.phi + 0.1 * turn[1]));
  s.camera.position.setFromSpherical(way).add(s.controls.target);
  s.controls.update();
});
