// Copyright 2026 rbd_ros maintainers
// SPDX-License-Identifier: Apache-2.0
// Shows what a server sends, and the last of it again.
'use strict';

function watchLive(view) {
  const { data, element, floats, order, pull } = view;
  const play = element('play'), slider = element('slider'), speed = element('speed');
  const own = data.live === 'simulation';  // else another process moves it, or its sliders alone
  const KEPT = 3000;  // states, of which there are up to 60 a second
  const digits = (x) => x.toFixed(2);
  let history = [], looked = null, playing = true;

  for (const id of ['play', 'speed', 'step', 'keep', 'pulling']) element(id).hidden = !own;
  element('reset').hidden = data.live === 'watch';
  slider.hidden = element('time').hidden = data.live === 'static';
  if (data.live === 'static') view.panel.show(true);
  if (own) {
    const button = element('pull');
    button.addEventListener('change', () => {
      pull.setMode(button.checked);
      view.renderer.domElement.style.cursor = button.checked ? 'grab' : '';
    });
  }

  function show(state) {
    view.place(state.poses, 0, 0, 0);
    view.arrows.show(state.contacts, 0, state.contacts.length);
    if (pull) pull.update();
    const factor = own && looked === null ? `, ${digits(state.factor)} x real time` : '';
    view.show({ ...state, text: `${digits(state.time)} s${factor}` });
  }
  function keep(state) {
    const last = history[history.length - 1];
    if (last && state.time < last.time) history = [];
    if (!last || state.time !== last.time) history.push(state);
    if (history.length > KEPT) history.shift();
    slider.max = Math.max(history.length - 1, 1);
    if (looked === null) slider.value = slider.max;
  }
  // The newest state again, and the ones that come.
  function follow() { looked = null; }

  slider.addEventListener('input', () => {
    if (own && playing) order('pause');
    looked = Math.round(Number(slider.value));
    if (looked >= history.length - 1) follow();
    else show(history[looked]);
  });
  play.addEventListener('click', () => { follow(); order(playing ? 'pause' : 'play'); });
  for (const name of ['step', 'reset', 'keep']) {
    element(name).addEventListener('click', () => { follow(); order(name); });
  }
  speed.addEventListener('change', () => order('speed', Number(speed.value)));

  const events = new EventSource('events');
  // Where this page comes from, another one may be served by now: of another robot, say.
  let shown = null;
  events.onopen = async () => {
    const found = (await fetch('.', { method: 'HEAD' })).headers.get('ETag');
    if (shown !== null && found !== shown) window.location.reload();
    shown = found;
  };
  events.onmessage = (event) => {
    const state = JSON.parse(event.data);
    for (const name of ['poses', 'contacts', 'q', 'v', 'effort']) {
      if (name in state) state[name] = floats(state[name]);
    }
    playing = state.playing;
    view.setPlaying(playing);
    speed.value = String(state.speed);
    keep(state);
    view.plot.add(state, performance.now());
    // Robots that stand upright, say, do not move by themselves.
    const hint = pull && view.frames.length && !pull.isUsed() ? 'To move something, hold Shift, or switch on "Pull", and drag it.' : [];
    element('notice').textContent = view.notices.concat(state.message || hint).join('\n');
    if (looked === null) show(state);
  };
  events.onerror = () => { element('notice').textContent = own ? 'The simulation has ended.' : 'The viewer has ended.'; };
}
