// Copyright 2026 rbd_ros maintainers
// SPDX-License-Identifier: Apache-2.0
// One signal of all joints over time: of a recording, or of the last seconds of what is live.
'use strict';

function makePlot(joints) {
  const section = document.getElementById('plot-section'), choice = document.getElementById('signal');
  const LENGTH = 20;  // that is kept of what is live [s]
  const colors = ['#1f77b4', '#ff7f0e', '#2ca02c', '#d62728', '#9467bd', '#8c564b', '#e377c2', '#7f7f7f', '#bcbd22', '#17becf'];
  const signals = {
    position: { of: (state) => state.q, at: (joint) => joint.position, unit: (unit) => unit },
    velocity: { of: (state) => state.v, at: (joint) => joint.velocity, unit: (unit) => `${unit}/s` },
    effort: { of: (state) => state.effort, at: (joint) => joint.velocity, unit: (unit) => (unit === 'm' ? 'N' : 'N m') },
  };
  let states = [], plot = null, due = 0;

  function offer(state) {
    for (const name of Object.keys(signals)) {
      if (!signals[name].of(state) || [...choice.options].some((each) => each.value === name)) continue;
      const option = document.createElement('option');
      option.value = option.textContent = name;
      choice.appendChild(option);
    }
  }
  function draw() {
    if (!section.open || !states.length || !joints.length) return;
    const { of, at, unit } = signals[choice.value || 'position'];
    const rows = [states.map((each) => each.time), ...joints.map((joint) => states.map((each) => of(each)[at(joint)]))];
    if (plot) {
      plot.setData(rows);
      return;
    }
    const axis = { stroke: () => getComputedStyle(document.body).color, grid: { stroke: 'rgba(128, 128, 128, 0.25)' } };
    const units = [...new Set(joints.map((joint) => unit(joint.unit)))].join(', ');
    plot = new uPlot({
      width: 300, height: 220,
      scales: { x: { time: false } },
      axes: [{ ...axis, label: 'time [s]' }, { ...axis, label: `${choice.value} [${units}]` }],
      series: [{ label: 'time [s]' }, ...joints.map((joint, k) => ({
        label: joint.name, stroke: colors[k % colors.length],
        value: (_, value) => (value === null ? '-' : value.toFixed(3)),
      }))],
    }, rows, document.getElementById('plot'));
  }
  function restart() {
    if (plot) plot.destroy();
    plot = null;
    draw();
  }
  choice.addEventListener('change', restart);
  section.addEventListener('toggle', restart);
  return {
    // All states of a recording.
    set(all) { states = all; if (all.length) offer(all[0]); restart(); },
    // The newest state; time that goes back begins again.
    add(state, now) {
      offer(state);
      const last = states.length ? states[states.length - 1].time : -Infinity;
      if (state.time < last) states = [];
      if (state.time === last) return;
      states.push(state);
      while (states[0].time < state.time - LENGTH) states.shift();
      if (now < due) return;
      due = now + 100;
      draw();
    },
    get count() { return states.length; },
    get plot() { return plot; },
  };
}
