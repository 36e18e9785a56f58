// Copyright 2026 rbd_ros maintainers
// SPDX-License-Identifier: Apache-2.0
// The panel of joints: their values, and sliders where they can be moved.
'use strict';

function makePanel(data, order) {
  const element = (id) => document.getElementById(id);
  const panel = element('panel'), toggle = element('toggle'), command = element('command');
  const digits = (x) => (Math.abs(x) < 5e-4 ? 0 : x).toFixed(3);
  const movable = data.live === 'simulation' || data.live === 'static';
  let values = null;

  const rows = data.joints.map((joint, number) => {
    const row = document.createElement('div'), name = document.createElement('span');
    const value = document.createElement('output'), slider = document.createElement('input');
    row.className = 'joint';
    name.textContent = name.title = joint.name;
    slider.type = 'range';
    slider.step = 'any';
    slider.setAttribute('aria-label', joint.name);
    row.append(name, value);
    if (movable) row.append(slider);
    slider.addEventListener('input', () => order(command.value, [number, Number(slider.value)]));
    // Beside a slider that is held, the position that comes back would pull it away.
    slider.addEventListener('pointerdown', () => { slider.dataset.held = 'true'; });
    for (const end of ['pointerup', 'pointercancel', 'blur']) slider.addEventListener(end, () => { delete slider.dataset.held; });
    element('joints').append(row);
    return { joint, value, slider };
  });
  function setRanges() {
    const isEffort = command.value === 'effort';
    for (const { joint, slider } of rows) {
      const [low, high] = isEffort ? [-(joint.effort ?? 100), joint.effort ?? 100] : joint.limits || [-Math.PI, Math.PI];
      slider.min = low;
      slider.max = high;
      if (isEffort) slider.value = 0;
    }
    update(values);
  }
  function update(q) {
    values = q;
    if (!q) return;
    for (const { joint, value, slider } of rows) {
      value.textContent = `${digits(q[joint.position])} ${joint.unit}`;
      if (command.value === 'joint' && !slider.dataset.held) slider.value = q[joint.position];
    }
  }
  function show(value) {
    panel.hidden = !value;
    toggle.setAttribute('aria-expanded', String(value));
    // Where the panel opens, a plot finds out how wide it is.
    window.dispatchEvent(new Event('resize'));
  }
  element('joint-section').hidden = !rows.length;
  // Time stands still on a static page, so there is nothing to plot.
  element('plot-section').hidden = !rows.length || data.live === 'static';
  element('command-choice').hidden = data.live !== 'simulation';
  command.addEventListener('change', setRanges);
  toggle.addEventListener('click', () => show(panel.hidden));
  setRanges();
  return {
    rows,
    update,
    show,
    toggle: () => show(panel.hidden),
    valueOf: (joint) => (values ? digits(values[joint.position]) : '-'),
  };
}
