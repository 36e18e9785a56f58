// Copyright 2026 rbd_ros maintainers
// SPDX-License-Identifier: Apache-2.0
// Arrows of contact forces; made when they are first needed, and hidden when they are not.
'use strict';

function makeArrows(scene, span, weight) {
  // Before everything else: most contact points lie below what rests on them.
  const material = new THREE.MeshStandardMaterial({
    color: 0xd81b60, roughness: 0.5, depthTest: false, transparent: true,
  });
  const radius = span / 120, head = 5 * radius;
  // Those of three.js stand along y, about their middle; these begin at the origin.
  const shaft = new THREE.CylinderGeometry(radius, radius, 1, 12).translate(0, 0.5, 0);
  const tip = new THREE.CylinderGeometry(0, 2.5 * radius, head, 16).translate(0, head / 2, 0);
  const up = new THREE.Vector3(0, 1, 0), direction = new THREE.Vector3();
  const arrows = [];
  let visible = true, count = 0;

  function add() {
    const arrow = new THREE.Group();
    arrow.add(new THREE.Mesh(shaft, material), new THREE.Mesh(tip, material));
    arrow.children.forEach((part) => { part.renderOrder = 1; });
    scene.add(arrow);
    arrows.push(arrow);
  }

  // Three numbers of the point and three of the force for each contact, from one index to another.
  function show(numbers, from, to) {
    count = Math.floor((to - from) / 6);
    while (arrows.length < count) add();
    arrows.forEach((arrow, k) => {
      arrow.visible = visible && k < count;
      if (k >= count) return;
      const at = from + 6 * k;
      direction.set(numbers[at + 3], numbers[at + 4], numbers[at + 5]);
      const force = direction.length();
      // By the square root: a box's contacts are seen beside those of the robot that pushes it.
      const length = Math.min(0.5 * span * Math.sqrt(force / weight), 2 * span);
      if (!(length > 0)) {
        arrow.visible = false;
        return;
      }
      arrow.position.set(numbers[at], numbers[at + 1], numbers[at + 2]);
      arrow.quaternion.setFromUnitVectors(up, direction.divideScalar(force));
      arrow.children[0].scale.y = length;
      arrow.children[1].position.y = length;
    });
  }
  function setVisible(value) {
    visible = value;
    arrows.forEach((arrow, k) => { arrow.visible = visible && k < count; });
  }
  return { arrows, show, setVisible };
}
