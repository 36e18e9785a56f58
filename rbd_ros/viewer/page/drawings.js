// Copyright 2026 rbd_ros maintainers
// SPDX-License-Identifier: Apache-2.0
// Lines, balls and texts that a program adds.
'use strict';

function makeDrawings(scene, camera, canvas) {
  const group = new THREE.Group(), labels = document.getElementById('labels');
  const at = new THREE.Vector3();
  let shown = '[]', texts = [];
  scene.add(group);

  function add({ kind, points, color, radius, text }) {
    const paint = new THREE.Color().setRGB(...color, 'srgb');
    if (kind === 'text') {
      const label = document.createElement('span');
      label.textContent = text;
      label.style.color = `#${paint.getHexString()}`;
      labels.append(label);
      texts.push({ label, position: new THREE.Vector3(...points) });
    } else if (kind === 'ball') {
      const ball = new THREE.Mesh(new THREE.SphereGeometry(radius, 24, 16), new THREE.MeshStandardMaterial({ color: paint }));
      ball.position.set(...points);
      group.add(ball);
    } else {
      const ends = [];
      for (let k = 3; k < points.length; k += 3) ends.push(...points.slice(k - 3, k + 3));
      const geometry = new THREE.BufferGeometry();
      geometry.setAttribute('position', new THREE.BufferAttribute(Float32Array.from(ends), 3));
      group.add(new THREE.LineSegments(geometry, new THREE.LineBasicMaterial({ color: paint })));
    }
  }
  return {
    group,
    show(items) {
      const given = JSON.stringify(items);
      if (given === shown) return;
      shown = given;
      group.children.forEach((each) => { each.geometry.dispose(); each.material.dispose(); });
      group.clear();
      labels.replaceChildren();
      texts = [];
      items.forEach(add);
    },
    // Texts lie before the picture, where their points are in it.
    place() {
      for (const { label, position } of texts) {
        at.copy(position).project(camera);
        label.hidden = at.z > 1;
        label.style.left = `${(at.x + 1) / 2 * canvas.clientWidth}px`;
        label.style.top = `${(1 - at.y) / 2 * canvas.clientHeight}px`;
      }
    },
  };
}
