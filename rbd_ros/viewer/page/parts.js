// Copyright 2026 rbd_ros maintainers
// SPDX-License-Identifier: Apache-2.0
// What of three.js the page uses; scripts/update_page_libraries makes three.js of it.
export {
  Box3, BoxGeometry, BufferAttribute, BufferGeometry, CapsuleGeometry, Color, CylinderGeometry,
  DirectionalLight, DoubleSide, Group, HemisphereLight, LineBasicMaterial, LineSegments, Mesh,
  MeshBasicMaterial, MeshStandardMaterial, PCFShadowMap, PerspectiveCamera, Plane, PlaneGeometry, Quaternion, Raycaster,
  Scene, ShadowMaterial, SphereGeometry, Vector2, Vector3, WebGLRenderer,
} from 'three';
export { OrbitControls } from 'three/addons/controls/OrbitControls.js';
