// Copyright 2026 rbd_ros maintainers
// SPDX-License-Identifier: Apache-2.0
// The name of what is under the pointer, with the position of its joint; a click holds it.
'use strict';

function makeHover(view, data, valueOf) {
  const { camera, canvas, frames, solids } = view;
  const tip = document.getElementById('tip');
  const caster = new THREE.Raycaster(), pointer = new THREE.Vector2();
  const names = [...data.links, ...data.objects];
  let shown = -1, held = false, at = null;

  function frameAt(x, y) {
    const box = canvas.getBoundingClientRect();
    pointer.set(2 * (x - box.left) / box.width - 1, 1 - 2 * (y - box.top) / box.height);
    caster.setFromCamera(pointer, camera);
    const hit = caster.intersectObjects(solids, false)[0];
    return hit ? frames.indexOf(hit.object.parent) : -1;
  }
  function update() {
    if (at) {
      shown = frameAt(...at);
      at = null;
    }
    tip.hidden = shown < 0;
    if (shown < 0) return;
    const lines = [names[shown]];
    for (const joint of data.joints) {
      if (joint.frame === shown) lines.push(`${joint.name}: ${valueOf(joint)} ${joint.unit}`);
    }
    const mass = data.masses.find((each) => each.frame === shown);
    if (mass) lines.push(`${Number(mass.mass.toPrecision(4))} kg`);
    tip.textContent = lines.join('\n');
  }
  function moveTo(event) {
    tip.style.left = `${Math.min(event.clientX + 12, window.innerWidth - tip.offsetWidth - 4)}px`;
    tip.style.top = `${Math.min(event.clientY + 12, window.innerHeight - tip.offsetHeight - 4)}px`;
  }
  canvas.addEventListener('pointermove', (event) => {
    if (held || event.buttons) return;
    at = [event.clientX, event.clientY];
    requestAnimationFrame(() => { update(); moveTo(event); });
  });
  canvas.addEventListener('click', (event) => {
    at = [event.clientX, event.clientY];
    update();
    moveTo(event);
    held = shown >= 0;
  });
  canvas.addEventListener('pointerleave', () => {
    if (held) return;
    shown = -1;
    update();
  });
  return { update };
}
