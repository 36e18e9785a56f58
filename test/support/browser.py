# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A real browser without a display, driven through a pipe (Chrome's DevTools protocol)."""

import base64
import contextlib
import itertools
import json
import os
import select
import shutil
import subprocess

from support.waiting import CEILING, until

NAMES = ('chromium', 'chromium-browser', 'google-chrome')
FLAGS = (
    '--headless=new',
    '--no-sandbox',
    '--use-angle=swiftshader',
    '--enable-unsafe-swiftshader',
    '--hide-scrollbars',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-dev-shm-usage',
    '--window-size=480,360',
    '--remote-debugging-pipe',
)


def executable():
    """Return the path of the browser, None if there is none."""
    return next(filter(None, map(shutil.which, NAMES)), None)


@contextlib.contextmanager
def browser(folder):
    """Provide a browser with a separate profile in `folder`."""
    to_browser, ours = os.pipe()
    theirs, from_browser = os.pipe()[::-1]

    def connect():
        # It reads from descriptor 3 and writes to 4, which the pipes themselves may have.
        one, two = os.dup(to_browser), os.dup(theirs)
        high = [os.dup2(one, 50), os.dup2(two, 51)]
        os.dup2(high[0], 3)
        os.dup2(high[1], 4)

    process = subprocess.Popen(
        [executable(), *FLAGS, f'--user-data-dir={folder}'],
        preexec_fn=connect,
        close_fds=False,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(to_browser)
    os.close(theirs)
    try:
        yield Browser(ours, from_browser)
    finally:
        process.kill()
        process.wait()
        os.close(ours)
        os.close(from_browser)


class Browser:
    """Pages of a browser.

    :ivar requests: addresses requested by pages
    :ivar complaints: messages on errors and blocked requests
    """

    def __init__(self, write, read):
        self._write, self._read = write, read
        self._rest, self._ids, self._session = b'', itertools.count(1), None
        self.requests, self.complaints = [], []

    def open(self, url, ready="document.body?.dataset.ready === 'true'", first=''):
        """Open a page and wait until it is ready.

        :param ready: expression that is true when the page is ready
        :param first: JavaScript to run before that of the page
        """
        target = self.call('Target.createTarget', url='about:blank')['targetId']
        attached = self.call('Target.attachToTarget', targetId=target, flatten=True)
        self._session = attached['sessionId']
        for domain in ('Page', 'Runtime', 'Network', 'Log'):
            self.call(f'{domain}.enable')
        self.call('Page.addScriptToEvaluateOnNewDocument', source=first)
        self.call('Page.navigate', url=url)
        self.wait(f'location.href !== "about:blank" && ({ready})')

    def evaluate(self, expression):
        """Return the value of a JavaScript expression, of a promise its result."""
        found = self.call(
            'Runtime.evaluate', expression=expression, returnByValue=True, awaitPromise=True
        )
        assert 'exceptionDetails' not in found, found['exceptionDetails']
        return found['result'].get('value')

    def wait(self, expression):
        """Wait until an expression is true."""
        until(lambda: self.evaluate(expression), expression)

    def screenshot(self):
        """Return the picture of the page, PNG."""
        return base64.b64decode(self.call('Page.captureScreenshot')['data'])

    def whole_page(self, width):
        """Return the picture of the page from top to bottom, PNG.

        :param width: width of the window [pixels]
        """
        self.call(
            'Emulation.setDeviceMetricsOverride',
            width=width,
            height=800,
            deviceScaleFactor=1,
            mobile=False,
        )
        # What is drawn anew for this width.
        self.evaluate('new Promise(done => setTimeout(() => requestAnimationFrame(done), 50))')
        height = self.evaluate('document.documentElement.scrollHeight')
        clip = {'x': 0, 'y': 0, 'width': width, 'height': height, 'scale': 1}
        taken = self.call('Page.captureScreenshot', captureBeyondViewport=True, clip=clip)
        return base64.b64decode(taken['data'])

    def call(self, method, **parameters):
        """Return the result of a command."""
        number = next(self._ids)
        message = {'id': number, 'method': method, 'params': parameters}
        if self._session is not None:
            message['sessionId'] = self._session
        os.write(self._write, json.dumps(message).encode() + b'\0')
        while True:
            answer = self._next()
            if answer.get('id') == number:
                assert 'error' not in answer, answer
                return answer['result']
            self._note(answer)

    def _note(self, event):
        method, parameters = event.get('method'), event.get('params', {})
        if method == 'Network.requestWillBeSent':
            self.requests.append(parameters['request']['url'])
        elif method == 'Runtime.exceptionThrown':
            self.complaints.append(json.dumps(parameters['exceptionDetails']))
        elif method == 'Log.entryAdded' and parameters['entry']['level'] == 'error':
            self.complaints.append(parameters['entry']['text'])

    def _next(self):
        while b'\0' not in self._rest:
            ready, _, _ = select.select([self._read], [], [], CEILING)
            assert ready, 'the browser does not answer'
            data = os.read(self._read, 1 << 20)
            assert data, 'the browser has ended'
            self._rest += data
        message, _, self._rest = self._rest.partition(b'\0')
        return json.loads(message)
