// Copyright 2026 rbd_ros maintainers
// SPDX-License-Identifier: Apache-2.0
// Plays a recording.
'use strict';

function playRecording(view, keys) {
  const { data, element, floats, setPlaying } = view;
  const times = floats(data.times), poses = floats(data.poses), positions = floats(data.q);
  const contacts = floats(data.contacts), firsts = data.firsts;
  const last = times.length - 1, end = times[last], stride = 7 * view.frames.length;
  const count = positions.length / times.length;
  const slider = element('slider'), play = element('play'), speed = element('speed');
  const configuration = (k) => positions.subarray(count * k, count * (k + 1));
  const digits = (x) => x.toFixed(2);
  let now = 0, playing = true, before = null;

  function show(time) {
    now = Math.min(Math.max(time, 0), end);
    let low = 0, high = last;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (times[middle] <= now) low = middle; else high = middle;
    }
    const length = times[high] - times[low];
    const part = length > 0 ? (now - times[low]) / length : 0;
    view.place(poses, low * stride, high * stride, part);
    const nearest = part < 0.5 ? low : high;
    view.arrows.show(contacts, 6 * firsts[nearest], 6 * firsts[nearest + 1]);
    slider.value = now;
    view.show({ time: now, text: `${digits(now)} / ${digits(end)} s`, q: configuration(nearest) });
  }
  function set(value) {
    playing = value;
    before = null;
    setPlaying(playing);
  }
  function tick(stamp) {
    if (playing) {
      if (before !== null) show(now + (stamp - before) / 1000 * Number(speed.value));
      before = stamp;
      if (now >= end) set(false);
    }
    requestAnimationFrame(tick);
  }
  slider.max = end;
  slider.addEventListener('input', () => { set(false); show(Number(slider.value)); });
  play.addEventListener('click', () => {
    if (!playing && now >= end) show(0);
    set(!playing);
  });
  const frame = end / Math.max(last, 1);
  Object.assign(keys, {
    ArrowRight: () => { set(false); show(now + frame); },
    ArrowLeft: () => { set(false); show(now - frame); },
    Backspace: () => { set(false); show(0); },
  });
  view.plot.set(Array.from(times, (time, k) => ({ time, q: configuration(k) })));

  // For video.py: all pictures in turn, then an empty one.
  async function sendPictures(width, height, rate) {
    const { renderer } = view, send = (body) => fetch('picture', { method: 'POST', body });
    window.removeEventListener('resize', view.resize);
    renderer.setPixelRatio(1);
    view.setSize(width, height);
    for (let k = 0; k <= Math.round(end * rate); k++) {
      show(k / rate);
      view.render();
      await send(await new Promise((done) => renderer.domElement.toBlob(done, 'image/jpeg', 0.98)));
    }
    await send('');
  }
  const asked = /^#pictures=(\d+)x(\d+)x([\d.]+)$/.exec(window.location.hash);
  if (asked !== null) {
    sendPictures(...asked.slice(1).map(Number));
    return;
  }
  // A link to an instant: recording.html#t=1.5 shows it and waits.
  const start = /^#t=([\d.]+)$/.exec(window.location.hash);
  set(start === null);
  show(start === null ? 0 : Number(start[1]));
  requestAnimationFrame(tick);
}
