// Settings, kept between visits.
const settings = { map: null, range: null, gain: 0, reference: "running", fixed: null, smooth: true, views: null, overlay: true, whole: false, rendering: "maximum", flow: "velocity", flowThreshold: -30, projections: { x: false, y: false, z: false } };
try { Object.assign(settings, JSON.parse(localStorage.getItem("echoform") || "{}")); } catch { /* private mode */ }
function keep() { try { localStorage.setItem("echoform", JSON.stringify(settings)); } catch { /* private mode */ } }
const page = new URLSearchParams(location.search);
const token = page.get("token");
let streamName = page.get("stream") || "";
