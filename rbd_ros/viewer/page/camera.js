// Copyright 2026 rbd_ros maintainers
// SPDX-License-Identifier: Apache-2.0
// Named views, fit to what there is, and a camera that follows a frame.
'use strict';

function makeViews(camera, controls, reach, frames, solids, draw) {
  // Directions from the target to the camera: x of a robot is forward, y left, z up.
  const directions = { home: [1.6, -2.2, 1.1], front: [1, 0, 0.15], left: [0, 1, 0.15], top: [-0.001, 0, 1] };
  const before = new THREE.Vector3(), step = new THREE.Vector3();
  let followed = null;

  function look(direction, center, radius) {
    const distance = radius / Math.sin(Math.PI / 360 * camera.fov) * Math.max(1, 1 / camera.aspect);
    controls.target.copy(center);
    camera.position.copy(center).add(direction.clone().setLength(distance));
    controls.update();
    draw();
  }
  return {
    target: () => controls.target,
    // At first as long as the page has been looked at: three dimensions of the whole scene.
    home() {
      const center = new THREE.Vector3(...reach.center), span = Math.max(reach.radius, 0.05);
      controls.target.copy(center);
      // From farther away on a phone held upright, where the sides would be cut off.
      const distance = 1.3 * span * Math.max(1, 0.75 / camera.aspect);
      camera.position.copy(center).add(new THREE.Vector3(...directions.home).multiplyScalar(distance));
      controls.update();
      draw();
    },
    show(name) {
      if (name === 'home') this.home();
      else look(new THREE.Vector3(...directions[name]), controls.target.clone(), Math.max(reach.radius, 0.05));
    },
    fit() {
      const box = new THREE.Box3(), center = new THREE.Vector3(), size = new THREE.Vector3();
      solids.filter((each) => frames.includes(each.parent)).forEach((each) => {
        each.updateWorldMatrix(true, false);
        box.expandByObject(each);
      });
      if (box.isEmpty()) return;
      box.getCenter(center);
      look(camera.position.clone().sub(controls.target), center, Math.max(box.getSize(size).length() / 2, 0.05));
    },
    follow(number) {
      followed = number >= 0 ? frames[number] : null;
      if (followed) before.copy(followed.position);
    },
    // After the frames have moved.
    update() {
      if (!followed) return;
      step.subVectors(followed.position, before);
      before.copy(followed.position);
      controls.target.add(step);
      camera.position.add(step);
      controls.update();
    },
  };
}
