// Copyright 2026 rbd_ros maintainers
// SPDX-License-Identifier: Apache-2.0
// Pulling at a body: the pointer takes hold of a point of it, and a spring leads to the pointer.
// Or rotating it: about the axis in the screen that is across the motion of the pointer, or, with
// Shift as well, about the direction of view.
'use strict';

function makePull(view, order) {
  const { scene, camera, controls, canvas, frames, span, draw } = view;
  const caster = new THREE.Raycaster(), plane = new THREE.Plane();
  const pointer = new THREE.Vector2(), target = new THREE.Vector3(), end = new THREE.Vector3();
  const up = new THREE.Vector3(0, 1, 0), way = new THREE.Vector3();
  const line = new THREE.Mesh(
    new THREE.CylinderGeometry(span / 200, span / 200, 1, 8).translate(0, 0.5, 0),
    new THREE.MeshBasicMaterial({ color: 0x1976d2 }));
  line.visible = false;
  scene.add(line);
  const rotation = new THREE.Vector3(), MAX_ANGLE = 2.5;  // below half a turn, where the shorter way changes [rad]
  let held = null, used = false, mode = false, waiting = null, busy = false;

  // One order after the other, so that letting go is never overtaken; of pulls, the newest.
  async function send(name, value) {
    waiting = [name, value];
    if (busy) return;
    busy = true;
    try {
      while (waiting) {
        const [next, what] = waiting;
        waiting = null;
        await order(next, what);
      }
    } catch (error) {
      waiting = null;  // the simulation has ended
    } finally {
      busy = false;
    }
  }
  const rounded = (v) => v.toArray().map((x) => Number(x.toPrecision(7)));
  function tell() {
    const more = held.rotates ? { rotation: rounded(rotation) } : {};
    send('pull', { frame: held.frame, point: rounded(held.point), target: rounded(target), ...more });
  }

  function aim(event) {
    const box = canvas.getBoundingClientRect();
    pointer.set(2 * (event.clientX - box.left) / box.width - 1, 1 - 2 * (event.clientY - box.top) / box.height);
    camera.updateMatrixWorld();
    caster.setFromCamera(pointer, camera);
  }
  function frameOf(object) {
    for (let at = object; at; at = at.parent) {
      const number = frames.indexOf(at);
      if (number >= 0) return number;
    }
    return -1;
  }
  canvas.addEventListener('pointerdown', (event) => {
    // A second finger is for the camera. With Ctrl as in MuJoCo: left rotates, right pulls.
    const rotates = event.ctrlKey && event.button === 0;
    const pulls = event.button === 0 ? mode || event.shiftKey : event.ctrlKey && event.button === 2;
    if (!event.isPrimary || !(rotates || pulls)) return;
    aim(event);
    // What stands still hides what is behind it.
    const hit = caster.intersectObjects(view.solids, false)[0];
    const frame = hit ? frameOf(hit.object) : -1;
    if (frame < 0) return;
    controls.enabled = false;
    event.stopImmediatePropagation();
    canvas.setPointerCapture(event.pointerId);
    held = { frame, point: frames[frame].worldToLocal(hit.point.clone()), rotates, x: event.clientX, y: event.clientY };
    rotation.set(0, 0, 0);
    used = true;
    // The pointer moves in the plane of the screen at the depth of that point.
    plane.setFromNormalAndCoplanarPoint(camera.getWorldDirection(way), hit.point);
    target.copy(hit.point);
    tell();
    update();
    draw();
  }, { capture: true });
  canvas.addEventListener('pointermove', (event) => {
    if (!held || !event.isPrimary) return;
    aim(event);
    if (held.rotates) {
      // Half a turn for the height of the picture; what is in front follows the pointer.
      const scale = Math.PI / canvas.clientHeight, x = scale * (event.clientX - held.x), y = scale * (event.clientY - held.y);
      rotation.set(...(event.shiftKey ? [0, 0, -x] : [y, x, 0])).clampLength(0, MAX_ANGLE).applyQuaternion(camera.quaternion);
    } else if (!caster.ray.intersectPlane(plane, target)) return;
    tell();
    update();
    draw();
  });
  function release() {
    if (!held) return;
    held = null;
    controls.enabled = true;
    send('release');
    update();
    draw();
  }
  for (const name of ['pointerup', 'pointercancel']) canvas.addEventListener(name, (event) => { if (event.isPrimary) release(); });
  canvas.addEventListener('contextmenu', (event) => { if (held) event.preventDefault(); });
  window.addEventListener('blur', release);
  // The server lets go of what no page has asked for any more.
  setInterval(() => { if (held) tell(); }, 400);

  function update() {
    line.visible = held !== null;
    if (!held) return;
    frames[held.frame].updateMatrixWorld();
    frames[held.frame].localToWorld(end.copy(held.point));
    // Along the spring, or along the axis of the rotation.
    if (held.rotates) way.copy(rotation).multiplyScalar(span / 3);
    else way.subVectors(target, end);
    const length = way.length();
    line.visible = length > 1e-9;
    line.position.copy(end);
    line.scale.y = length;
    if (length > 1e-9) line.quaternion.setFromUnitVectors(up, way.divideScalar(length));
  }
  return { line, update, isUsed: () => used, setMode: (value) => { mode = value; } };
}
