// Copyright 2026 rbd_ros maintainers
// SPDX-License-Identifier: Apache-2.0
// Draws the scene of the element `data`, and plays its frames or what a server sends.
'use strict';

(() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const element = (id) => document.getElementById(id);
  const say = (text) => { element('notice').textContent += text + '\n'; };
  const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const floats = (text) => new Float32Array(bytes(text).buffer);
  const notices = data.notices.slice();
  notices.forEach(say);

  // -- what there is to see

  let renderer;
  try {
    renderer = new THREE.WebGLRenderer({ antialias: true, preserveDrawingBuffer: true });
  } catch (error) {
    say('This browser cannot draw in three dimensions (WebGL 2); turn on its hardware acceleration.');
    return;
  }
  renderer.shadowMap.enabled = true;
  renderer.shadowMap.type = THREE.PCFShadowMap;
  renderer.setPixelRatio(window.devicePixelRatio);
  document.body.appendChild(renderer.domElement);

  const scene = new THREE.Scene();
  scene.background = new THREE.Color(0xe9edf1);
  const camera = new THREE.PerspectiveCamera(40, 1, 0.01, 1000);
  camera.up.set(0, 0, 1);
  scene.add(new THREE.HemisphereLight(0xffffff, 0x9aa0a8, 1.6));

  const parts = data.parts.map((part) => {
    const geometry = new THREE.BufferGeometry();
    const corners = bytes(part.corners).buffer;
    geometry.setAttribute('position', new THREE.BufferAttribute(floats(part.vertices), 3));
    geometry.setIndex(new THREE.BufferAttribute(
      part.wide ? new Uint32Array(corners) : new Uint16Array(corners), 1));
    return geometry;
  });

  function geometryOf(shape) {
    const size = shape.size;
    if (shape.kind === 'box') return new THREE.BoxGeometry(...size);
    if (shape.kind === 'sphere') return new THREE.SphereGeometry(size[0], 48, 24);
    if (shape.kind === 'mesh') return parts[size[0]];
    if (shape.kind === 'capsule') return new THREE.CapsuleGeometry(size[0], size[1], 16, 48).rotateX(Math.PI / 2);
    // Those of three.js stand along y.
    return new THREE.CylinderGeometry(size[0], size[0], size[1], 48).rotateX(Math.PI / 2);
  }

  // What moves: links, then objects; what stands still lies in the scene itself.
  const frames = [...data.links, ...data.objects].map((name) => {
    const group = new THREE.Group();
    group.name = name;
    scene.add(group);
    return group;
  });
  const solids = [];
  for (const shape of data.shapes) {
    const [r, g, b, a] = shape.color;
    const material = new THREE.MeshStandardMaterial({
      color: new THREE.Color().setRGB(r, g, b, 'srgb'), opacity: a, transparent: a < 1,
      roughness: 0.6, metalness: 0.1, flatShading: shape.kind === 'mesh', side: THREE.DoubleSide,
    });
    const mesh = new THREE.Mesh(geometryOf(shape), material);
    mesh.matrixAutoUpdate = false;
    mesh.matrix.set(...shape.placement);
    mesh.castShadow = mesh.receiveShadow = a >= 1;
    (shape.frame < 0 ? scene : frames[shape.frame]).add(mesh);
    solids.push(mesh);
  }

  // -- camera, light and ground, by the size of what there is

  const reach = data.reach;
  const span = Math.max(reach.radius, 0.05);
  const center = new THREE.Vector3(...reach.center);
  camera.position.copy(center).add(new THREE.Vector3(1.6, -2.2, 1.1).multiplyScalar(1.3 * span));
  camera.near = span / 100;
  camera.far = span * 200;
  const controls = new THREE.OrbitControls(camera, renderer.domElement);
  controls.target.copy(center);
  controls.update();
  const light = new THREE.DirectionalLight(0xffffff, 2.2);
  light.position.copy(center).add(new THREE.Vector3(0.8, -0.6, 2.0).multiplyScalar(2 * span));
  light.target.position.copy(center);
  light.castShadow = true;
  light.shadow.mapSize.set(2048, 2048);
  light.shadow.bias = -0.0005;
  light.shadow.normalBias = span / 500;
  Object.assign(light.shadow.camera, {
    left: -2 * span, right: 2 * span, top: 2 * span, bottom: -2 * span, near: span / 10, far: span * 12,
  });
  scene.add(light, light.target);
  // A segment for each side of a cell: some renderers drop whole lines that pass by the camera.
  function gridOf(count, cell) {
    const points = [];
    for (let i = -count; i <= count; i++) {
      for (let j = -count; j < count; j++) {
        points.push(i, j, 0, i, j + 1, 0, j, i, 0, j + 1, i, 0);
      }
    }
    const geometry = new THREE.BufferGeometry();
    const scaled = Float32Array.from(points, (x) => x * cell);
    return geometry.setAttribute('position', new THREE.BufferAttribute(scaled, 3));
  }
  for (const { pose, color } of data.grounds) {
    const ground = new THREE.Group();
    const cell = 10 ** Math.round(Math.log10(span / 3));
    const grid = new THREE.LineSegments(gridOf(30, cell), new THREE.LineBasicMaterial({ color: 0xb4bbc2 }));
    const surface = new THREE.PlaneGeometry(60 * cell, 60 * cell);
    const shade = new THREE.Mesh(surface, new THREE.ShadowMaterial({ opacity: 0.25 }));
    shade.receiveShadow = true;
    grid.position.z = -span / 2000;
    shade.position.z = -span / 4000;
    ground.add(grid, shade);
    if (color) {
      const [r, g, b, a] = color;
      const paint = new THREE.Mesh(surface, new THREE.MeshStandardMaterial({
        color: new THREE.Color().setRGB(r, g, b, 'srgb'), opacity: a, transparent: a < 1, side: THREE.DoubleSide,
      }));
      paint.position.z = -span / 1000;
      ground.add(paint);
    }
    ground.matrixAutoUpdate = false;
    ground.matrix.set(...pose);
    scene.add(ground);
  }
  const arrows = makeArrows(scene, span, data.weight || 1);
  let pull = null;

  // Once for each picture on the screen, however many events there are: where no graphics card
  // draws, they would wait in a row.
  let waiting = false;
  function draw() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      renderer.render(scene, camera);
    });
  }
  function setSize(width, height) {
    renderer.setSize(width, height);
    camera.aspect = width / height;
    camera.updateProjectionMatrix();
    draw();
  }
  const resize = () => setSize(window.innerWidth, window.innerHeight);
  controls.addEventListener('change', draw);
  window.addEventListener('resize', resize);

  // -- for each frame position and quaternion

  const between = new THREE.Quaternion();
  function place(poses, from, to, part) {
    frames.forEach((frame, k) => {
      const a = from + 7 * k, b = to + 7 * k;
      frame.position.set(
        poses[a] + part * (poses[b] - poses[a]),
        poses[a + 1] + part * (poses[b + 1] - poses[a + 1]),
        poses[a + 2] + part * (poses[b + 2] - poses[a + 2]));
      frame.quaternion.set(poses[a + 3], poses[a + 4], poses[a + 5], poses[a + 6]);
      between.set(poses[b + 3], poses[b + 4], poses[b + 5], poses[b + 6]);
      frame.quaternion.slerp(between, part);
    });
  }

  const stride = 7 * frames.length;
  const play = element('play'), slider = element('slider'), speed = element('speed');
  const digits = (x) => x.toFixed(2);

  function playRecording() {
    const times = floats(data.times), poses = floats(data.poses);
    const contacts = floats(data.contacts), firsts = data.firsts;
    const last = times.length - 1, end = times[last];
    let now = 0, playing = true, before = null;

    function show(time) {
      now = Math.min(Math.max(time, 0), end);
      let low = 0, high = last;
      while (high - low > 1) {
        const middle = (low + high) >> 1;
        if (times[middle] <= now) low = middle; else high = middle;
      }
      const length = times[high] - times[low];
      const part = length > 0 ? (now - times[low]) / length : 0;
      place(poses, low * stride, high * stride, part);
      const nearest = part < 0.5 ? low : high;
      arrows.show(contacts, 6 * firsts[nearest], 6 * firsts[nearest + 1]);
      slider.value = now;
      element('time').textContent = `${digits(now)} / ${digits(end)} s`;
      document.body.dataset.time = now;
      draw();
    }
    function setPlaying(value) {
      playing = value;
      before = null;
      play.textContent = playing ? 'Pause' : 'Play';
      document.body.dataset.playing = playing;
    }
    function tick(stamp) {
      if (playing) {
        if (before !== null) show(now + (stamp - before) / 1000 * Number(speed.value));
        before = stamp;
        if (now >= end) setPlaying(false);
      }
      requestAnimationFrame(tick);
    }
    slider.max = end;
    slider.addEventListener('input', () => { setPlaying(false); show(Number(slider.value)); });
    play.addEventListener('click', () => {
      if (!playing && now >= end) show(0);
      setPlaying(!playing);
    });
    window.addEventListener('keydown', (event) => {
      if (event.key === ' ' && event.target !== play) { event.preventDefault(); play.click(); }
    });
    // For video.py: all pictures in turn, then an empty one.
    async function sendPictures(width, height, rate) {
      const send = (body) => fetch('picture', { method: 'POST', body });
      window.removeEventListener('resize', resize);
      renderer.setPixelRatio(1);
      setSize(width, height);
      for (let k = 0; k <= Math.round(end * rate); k++) {
        show(k / rate);
        renderer.render(scene, camera);
        await send(await new Promise((done) => renderer.domElement.toBlob(done, 'image/jpeg', 0.98)));
      }
      await send('');
    }
    const asked = /^#pictures=(\d+)x(\d+)x([\d.]+)$/.exec(window.location.hash);
    if (asked !== null) {
      sendPictures(...asked.slice(1).map(Number));
      return;
    }
    // A link to an instant: recording.html#t=1.5 shows it and waits.
    const start = /^#t=([\d.]+)$/.exec(window.location.hash);
    setPlaying(start === null);
    show(start === null ? 0 : Number(start[1]));
    requestAnimationFrame(tick);
  }

  function watch() {
    const order = (name, value) => fetch(name, {
      method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(value ?? null),
    });
    let playing = true;
    const own = data.live === 'simulation';  // else another process moves it, or nothing does
    slider.hidden = true;
    element('bar').hidden = data.live === 'static';
    play.hidden = speed.hidden = !own;
    element('step').hidden = element('reset').hidden = element('pulling').hidden = !own;
    if (own) {
      pull = makePull({ scene, camera, controls, canvas: renderer.domElement, frames, solids, span, draw }, order);
      const button = element('pull');
      button.addEventListener('change', () => {
        pull.setMode(button.checked);
        renderer.domElement.style.cursor = button.checked ? 'grab' : '';
      });
    }
    play.addEventListener('click', () => order(playing ? 'pause' : 'play'));
    element('step').addEventListener('click', () => order('step'));
    element('reset').addEventListener('click', () => order('reset'));
    speed.addEventListener('change', () => order('speed', Number(speed.value)));
    const events = new EventSource('events');
    // Where this page comes from, another one may be served by now: of another robot, say.
    let shown = null;
    events.onopen = async () => {
      const found = (await fetch('/', { method: 'HEAD' })).headers.get('ETag');
      if (shown !== null && found !== shown) window.location.reload();
      shown = found;
    };
    events.onmessage = (event) => {
      const state = JSON.parse(event.data);
      playing = state.playing;
      play.textContent = playing ? 'Pause' : 'Play';
      place(floats(state.poses), 0, 0, 0);
      const contacts = floats(state.contacts);
      arrows.show(contacts, 0, contacts.length);
      if (pull) pull.update();
      speed.value = String(state.speed);
      element('time').textContent = own
        ? `${digits(state.time)} s, ${digits(state.factor)} x real time` : `${digits(state.time)} s`;
      // Robots that stand upright, say, do not move by themselves.
      const hint = pull && frames.length && !pull.isUsed() ? 'To move something, hold Shift, or switch on "Pull", and drag it.' : [];
      element('notice').textContent = notices.concat(state.message || hint).join('\n');
      document.body.dataset.time = state.time;
      document.body.dataset.playing = playing;
      draw();
    };
    events.onerror = () => { element('notice').textContent = own ? 'The simulation has ended.' : 'The viewer has ended.'; };
  }

  element('contacts').addEventListener('change', () => {
    arrows.setVisible(element('contacts').checked);
    draw();
  });
  resize();
  if (data.live) watch(); else playRecording();
  document.body.dataset.ready = 'true';
  window.viewer = { links: frames, camera, arrows, pull };
})();
