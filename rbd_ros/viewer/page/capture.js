// Copyright 2026 rbd_ros maintainers
// SPDX-License-Identifier: Apache-2.0
// Pictures and videos of what the page shows, saved by the browser.
'use strict';

function makeCapture(canvas, title) {
  const save = (blob, name) => {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  };
  const button = document.getElementById('video');
  let recorder = null;
  document.getElementById('picture').addEventListener('click', () => {
    canvas.toBlob((blob) => save(blob, `${title}.png`), 'image/png');
  });
  button.hidden = !window.MediaRecorder;
  button.addEventListener('click', () => {
    if (recorder) {
      recorder.stop();
      return;
    }
    const chunks = [];
    recorder = new MediaRecorder(canvas.captureStream(30));
    recorder.ondataavailable = (event) => chunks.push(event.data);
    recorder.onstop = () => {
      save(new Blob(chunks, { type: recorder.mimeType }), `${title}.webm`);
      recorder = null;
      button.textContent = 'Video';
    };
    recorder.start();
    button.textContent = 'Stop video';
  });
}
