// Copyright 2026 rbd_ros maintainers
// SPDX-License-Identifier: Apache-2.0
// Draws the scene of the element `data`, with all that is around it: the page's main script.
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
  const dark = window.matchMedia('(prefers-color-scheme: dark)');
  const gridMaterial = new THREE.LineBasicMaterial();
  const paint = () => {
    const style = getComputedStyle(document.documentElement);
    scene.background = new THREE.Color(style.getPropertyValue('--back').trim());
    gridMaterial.color.set(style.getPropertyValue('--line').trim());
  };
  paint();
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
  camera.near = span / 100;
  camera.far = span * 200;
  const controls = new THREE.OrbitControls(camera, renderer.domElement);
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
    const grid = new THREE.LineSegments(gridOf(30, cell), gridMaterial);
    const surface = new THREE.PlaneGeometry(60 * cell, 60 * cell);
    const shade = new THREE.Mesh(surface, new THREE.ShadowMaterial({ opacity: 0.25 }));
    shade.receiveShadow = true;
    grid.position.z = -span / 2000;
    shade.position.z = -span / 4000;
    ground.add(grid, shade);
    if (color) {
      const [r, g, b, a] = color;
      const cover = new THREE.Mesh(surface, new THREE.MeshStandardMaterial({
        color: new THREE.Color().setRGB(r, g, b, 'srgb'), opacity: a, transparent: a < 1, side: THREE.DoubleSide,
      }));
      cover.position.z = -span / 1000;
      ground.add(cover);
    }
    ground.matrixAutoUpdate = false;
    ground.matrix.set(...pose);
    scene.add(ground);
  }
  const canvas = renderer.domElement;
  const views = makeViews(camera, controls, reach, frames, solids, draw);
  const arrows = makeArrows(scene, span, data.weight || 1);
  const drawings = makeDrawings(scene, camera, canvas);
  const overlays = makeOverlays(data, frames, span, geometryOf);

  // Once for each picture on the screen, however many events there are: where no graphics card
  // draws, they would wait in a row.
  function render() {
    renderer.render(scene, camera);
    drawings.place();
  }
  let waiting = false;
  function draw() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      render();
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
    views.update();
  }

  // -- what a state is shown in

  const order = (name, value) => fetch(name, {
    method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(value ?? null),
  });
  const panel = makePanel(data, order), plot = makePlot(data.joints);
  const hover = makeHover({ camera, canvas, frames, solids }, data, panel.valueOf);
  makeCapture(canvas, document.title);
  const view = {
    data, notices, element, floats, frames, place, arrows, views, panel, plot, order, renderer, setSize, resize,
    render,
    // What is beside the poses, and a picture of all.
    show(state) {
      drawings.show(state.drawings || []);
      panel.update(state.q);
      hover.update();
      element('time').textContent = state.text;
      document.body.dataset.time = state.time;
      draw();
    },
    setPlaying(value) {
      element('play').textContent = value ? 'Pause' : 'Play';
      document.body.dataset.playing = value;
    },
  };

  // -- controls of all pages

  const switches = { contacts: arrows.setVisible };
  for (const name of overlays.names) {
    switches[name] = (value) => overlays.setVisible(name, value);
    element(name).parentElement.hidden = !overlays.groups[name];
  }
  element('contacts').parentElement.hidden = !data.contacts;
  for (const [name, set] of Object.entries(switches)) {
    element(name).addEventListener('change', () => { set(element(name).checked); draw(); });
  }
  document.querySelectorAll('[data-view]').forEach((button) => {
    button.addEventListener('click', () => views.show(button.dataset.view));
  });
  element('fit').addEventListener('click', () => views.fit());
  frames.forEach((frame, number) => {
    const option = document.createElement('option');
    option.value = number;
    option.textContent = frame.name;
    element('follow').append(option);
  });
  element('follow').addEventListener('change', () => views.follow(Number(element('follow').value)));
  const press = (id) => () => { if (!element(id).hidden) element(id).click(); };
  const keys = {
    ' ': press('play'), ArrowRight: press('step'), Backspace: press('reset'), c: press('contacts'),
    f: () => views.fit(), p: () => panel.toggle(),
  };
  window.addEventListener('keydown', (event) => {
    const typing = ['INPUT', 'SELECT'].includes(event.target.tagName) && event.target.type !== 'checkbox';
    const action = keys[event.key] || keys[event.key.toLowerCase()];
    if (!action || typing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === ' ' && event.target.tagName === 'BUTTON') return;  // it presses that button
    event.preventDefault();
    action();
  });
  dark.addEventListener('change', () => { paint(); draw(); plot.plot?.redraw(); });

  resize();
  views.home();
  if (data.live) {
    view.pull = data.live === 'simulation'
      ? makePull({ scene, camera, controls, canvas, frames, solids, span, draw }, order) : null;
    watchLive(view);
  } else playRecording(view, keys);
  document.body.dataset.ready = 'true';
  window.viewer = { links: frames, camera, arrows, drawings, overlays, panel, plot, views, pull: view.pull, background: () => scene.background };
})();
