// Copyright 2026 rbd_ros maintainers
// SPDX-License-Identifier: Apache-2.0
// What can be shown besides the shapes: frames, joint axes, masses, inertia boxes, collision shapes.
'use strict';

function makeOverlays(data, frames, span, geometryOf) {
  const total = data.masses.reduce((sum, each) => sum + each.mass, 0);
  const groups = {};
  // Seen through the shapes, which are around them.
  const through = { depthTest: false, transparent: true };

  function add(name, frame, object, placement = null) {
    if (frame < 0) return;
    if (placement) {
      object.matrixAutoUpdate = false;
      object.matrix.set(...placement);
    }
    object.renderOrder = 1;
    object.visible = false;
    frames[frame].add(object);
    (groups[name] = groups[name] || []).push(object);
  }
  function segments(points, material) {
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute('position', new THREE.BufferAttribute(Float32Array.from(points), 3));
    return new THREE.LineSegments(geometry, material);
  }

  const length = span / 6;
  [0xd32f2f, 0x388e3c, 0x1976d2].forEach((color, k) => {
    const material = new THREE.LineBasicMaterial({ color, ...through });
    const end = [0, 0, 0];
    end[k] = length;
    frames.forEach((_, frame) => add('frames', frame, segments([0, 0, 0, ...end], material)));
  });
  const axisMaterial = new THREE.LineBasicMaterial({ color: 0x8e24aa, ...through });
  for (const { frame, origin, axis } of data.joints) {
    const ends = [-length, length].flatMap((s) => origin.map((x, k) => x + s * axis[k]));
    add('axes', frame, segments(ends, axisMaterial));
  }
  const massMaterial = new THREE.MeshBasicMaterial({ color: 0xf9a825, opacity: 0.85, ...through });
  const boxMaterial = new THREE.MeshStandardMaterial({ color: 0x26a69a, opacity: 0.4, transparent: true });
  const collisionMaterial = new THREE.MeshStandardMaterial({ color: 0xf28e2b, opacity: 0.45, transparent: true });
  for (const { frame, mass, pose, size } of data.masses) {
    const ball = new THREE.SphereGeometry(span / 15 * Math.cbrt(mass / total), 16, 12);
    add('masses', frame, new THREE.Mesh(ball, massMaterial), pose);
    add('inertias', frame, new THREE.Mesh(new THREE.BoxGeometry(...size), boxMaterial), pose);
  }
  for (const shape of data.collision) {
    add('collision', shape.frame, new THREE.Mesh(geometryOf(shape), collisionMaterial), shape.placement);
  }
  return {
    names: ['frames', 'axes', 'masses', 'inertias', 'collision'],
    groups,
    setVisible(name, value) { (groups[name] || []).forEach((each) => { each.visible = value; }); },
  };
}
