// Copyright 2026 rbd_ros maintainers
// SPDX-License-Identifier: Apache-2.0
// Draws the plots of a report, each from the numbers in its element, by uPlot.
'use strict';

(() => {
  const COLORS = ['#2a7fc4', '#ef8a17', '#2fa84f', '#e4572e', '#9a6fd0', '#a3705f', '#e072bd', '#8a9199', '#a9ab1c', '#17b1c4'];
  const POWERS = Array.from({ length: 10 }, (_, k) => 10 ** k);
  const FONT = '11px system-ui, sans-serif';
  const plots = [];
  window.reportPlots = plots;

  const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  const number = (value) => (value === null || value === undefined ? '-' : `${+value.toPrecision(5)}`);

  // What is not finite has no place in a plot.
  function decoded(text, Type) {
    const bytes = Uint8Array.from(atob(text), (each) => each.charCodeAt(0));
    return Array.from(new Type(bytes.buffer), (each) => (Number.isFinite(each) ? each : null));
  }

  // The straight lines of a plot, with their names: faults, limits.
  function drawLines(plot, lines) {
    const { ctx, bbox } = plot, ratio = devicePixelRatio;
    const taken = [];
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    ctx.font = FONT.replace('11', 11 * ratio);
    for (const { axis, at, name, fault } of lines) {
      const upright = axis === 'x', place = plot.valToPos(at, axis, true);
      ctx.strokeStyle = ctx.fillStyle = color(fault ? 'fail' : 'faint');
      ctx.lineWidth = ratio;
      ctx.setLineDash(fault ? [] : [4 * ratio, 4 * ratio]);
      ctx.beginPath();
      ctx.moveTo(upright ? place : bbox.left, upright ? bbox.top : place);
      ctx.lineTo(upright ? place : bbox.left + bbox.width, upright ? bbox.top + bbox.height : place);
      ctx.stroke();
      // Names that would cover each other appear when their part is enlarged.
      if (upright && taken.some((other) => Math.abs(other - place) < 13 * ratio)) continue;
      if (upright && name) taken.push(place);
      ctx.save();
      ctx.translate(upright ? place : bbox.left + bbox.width, upright ? bbox.top : place);
      if (upright) ctx.rotate(-Math.PI / 2);
      // Readable on curves.
      ctx.setLineDash([]);
      ctx.strokeStyle = color('back');
      ctx.lineWidth = 3 * ratio;
      ctx.textAlign = 'right';
      for (const write of ['strokeText', 'fillText']) ctx[write](name, -4 * ratio, (upright ? 12 : -4) * ratio);
      ctx.restore();
    }
    ctx.restore();
  }

  // Segments [x, y, x, y] of a boundary.
  function drawSegments(plot, segments) {
    const { ctx } = plot;
    ctx.save();
    ctx.strokeStyle = color('text');
    ctx.lineWidth = 2 * devicePixelRatio;
    ctx.lineCap = 'round';
    ctx.beginPath();
    for (const [x0, y0, x1, y1] of segments) {
      ctx.moveTo(plot.valToPos(x0, 'x', true), plot.valToPos(y0, 'y', true));
      ctx.lineTo(plot.valToPos(x1, 'x', true), plot.valToPos(y1, 'y', true));
    }
    ctx.stroke();
    ctx.restore();
  }

  // The point that is nearest to the pointer, in both directions.
  function nearest(plot) {
    const { left, top } = plot.cursor, [x, ...rows] = plot.data;
    let found = null, least = Infinity;
    rows.forEach((row, k) => {
      if (!plot.series[k + 1].show) return;
      row.forEach((y, i) => {
        if (y === null || x[i] === null) return;
        const distance = Math.hypot(plot.valToPos(x[i], 'x') - left, plot.valToPos(y, 'y') - top);
        if (distance < least) [least, found] = [distance, i];
      });
    });
    return found;
  }

  const FORMS = {
    line: { width: 1.25, points: { show: false } },
    bars: { width: 0, paths: uPlot.paths.bars({ size: [1, Infinity] }), points: { show: false } },
    points: { paths: () => null, points: { show: true, size: 6, width: 0 } },
  };

  function draw(source) {
    const spec = JSON.parse(source.textContent), box = document.createElement('div');
    source.after(box);
    const data = [decoded(spec.x, Float64Array), ...spec.curves.map((each) => decoded(each.values, Float32Array))];
    const ends = [data[0][0], data[0][data[0].length - 1]];
    let whole = true;
    const level = spec.lines.filter((each) => each.axis === 'y').map((each) => each.at);
    const beside = spec.lines.filter((each) => each.axis === 'x' && !each.fault).map((each) => each.at);
    const points = spec.curves.some((each) => each.form === 'points');
    const axis = (label, more) => ({
      label, stroke: () => color('text'), font: FONT, labelFont: FONT, labelSize: 18,
      grid: { stroke: () => color('line'), width: 1 }, ticks: { stroke: () => color('line'), width: 1 }, ...more,
    });
    const counts = spec.y_scale === 'count' ? { splits: (_, __, ___, high) => [0, ...POWERS.filter((each) => each <= high)] } : {};
    const time = spec.x_label.startsWith('time');
    // In the legend, unlike in the canvas, named colors follow the color scheme by themselves.
    const marker = (k, line) => {
      const { form, color: name } = spec.curves[k - 1];
      return (form === 'line') !== line ? null : name ? `var(--${name})` : COLORS[(k - 1) % COLORS.length];
    };
    const plot = new uPlot({
      width: box.clientWidth, height: spec.height,
      scales: {
        x: {
          time: false,
          range: (_, low, high) => {
            whole = low === ends[0] && high === ends[1];
            if (!whole) return [low, high];
            [low, high] = [Math.min(low, ...beside), Math.max(high, ...beside)];
            const edge = time ? 0 : 0.03 * (high - low) || 1;
            return [low - edge, high + edge];
          },
        },
        y: {
          distr: { linear: 1, log: 3, count: 4 }[spec.y_scale], asinh: 1,
          range: (_, low, high) => {
            if (spec.y_scale === 'log') return uPlot.rangeLog(low ?? 1, high ?? 1, 10, false);
            if (spec.y_scale === 'count') return [0, 2 * (high || 1)];
            // All of the run is shown with its limits; a part of it fills the plot.
            const all = [low, high, ...(whole ? level : [])].filter((each) => each !== null);
            return uPlot.rangeNum(Math.min(...all), Math.max(...all), 0.1, true);
          },
        },
      },
      legend: { markers: { stroke: (_, k) => marker(k, true), fill: (_, k) => marker(k, false) } },
      axes: [axis(spec.x_label, { size: 34 }), axis(spec.y_label, { size: 60, ...counts })],
      cursor: {
        ...(time ? { sync: { key: 'time', setSeries: true, scales: ['x', null] } } : {}),
        ...(points ? { dataIdx: (one) => nearest(one) } : {}),
      },
      series: [
        { label: spec.x_label, value: (_, value, __, k) => [number(value), spec.notes[k]].filter((each) => each).join(', ') },
        ...spec.curves.map((each, k) => {
          const stroke = each.color ? () => color(each.color) : COLORS[k % COLORS.length];
          const dash = [[], [8, 4], [2, 3]][Math.floor(k / COLORS.length) % 3];
          return { ...FORMS[each.form], label: each.name, stroke, dash, fill: each.form === 'line' ? null : stroke, value: (_, value) => number(value) };
        }),
      ],
      hooks: { draw: [(one) => { drawLines(one, spec.lines); drawSegments(one, spec.segments); }] },
    }, data, box);
    plots.push(plot);
    new ResizeObserver(() => plot.setSize({ width: box.clientWidth, height: spec.height })).observe(box);
  }

  document.querySelectorAll('script.plot').forEach(draw);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => plots.forEach((each) => each.redraw()));
  document.body.dataset.ready = 'true';
})();
