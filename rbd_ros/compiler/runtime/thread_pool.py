# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Thread pool for the rows of a batch, in machine code that needs no interpreter.

A job describes the work, in words of 64 bits. Its owner calls `run`, which publishes it for the
helpers and starts itself at once. All take chunks of rows until none is left, so a late helper is
waited for only if it has started a chunk. The helpers are threads that sleep in `help` forever.
One job is published at a time: another caller does all of its rows alone.

Atomic additions count taken chunks; a mutex of the C library guards all other shared data.
"""

from __future__ import annotations

from rbd_ros.compiler.runtime.memory_layouts import ALIGNMENT, JOB, POOL
from rbd_ros.compiler.targets.llvm.routine import Routine

_SPINS = 20_000  # rounds before a thread sleeps: some 20 us


class _Text(Routine):
    """A function of the module; all of them use the table `pool`."""

    def pool(self, name: str) -> str:
        """Return the entry of the pool."""
        return self.get('@pool', 'ptr', str(POOL.index(name)))

    def publish(self, job: str) -> None:
        """Set the job that helpers find, or null."""
        self.put('@pool', 'ptr', job, str(POOL.index('job')))

    def word(self, name: str, kind: str = 'i64') -> str:
        """Return the word of the job."""
        return self.get('%job', kind, str(JOB[name]))

    def set_word(self, name: str, value: str) -> None:
        """Set a word of the job."""
        self.put('%job', 'i64', value, str(JOB[name]))

    def count(self, name: str) -> str:
        """Return the value of a word of the job, and increment it atomically."""
        word = self.at('%job', 'i64', str(JOB[name]))
        return self.value(f'atomicrmw add ptr {word}, i64 1 monotonic')

    def lock(self) -> None:
        """Lock the mutex."""
        self.value(f'call i32 {self.pool("lock")}(ptr {self.pool("mutex")})')

    def unlock(self) -> None:
        """Unlock the mutex."""
        self.value(f'call i32 {self.pool("unlock")}(ptr {self.pool("mutex")})')

    def wait(self, condition: str) -> None:
        """Sleep until a condition is signaled; the mutex is unlocked meanwhile."""
        condition, mutex = self.pool(condition), self.pool('mutex')
        self.value(f'call i32 {self.pool("wait")}(ptr {condition}, ptr {mutex})')

    def signal(self, condition: str) -> None:
        """Wake the threads that wait for a condition."""
        self.value(f'call i32 {self.pool("signal")}(ptr {self.pool(condition)})')

    def allocate(self) -> str:
        """Return the memory for a scratch array, or null."""
        # `malloc` aligns to 16 bytes; manual alignment needs more memory.
        size = self.value(f'add i64 {self.word("scratch")}, {ALIGNMENT}')
        return self.value(f'call ptr {self.pool("malloc")}(i64 {size})')

    def batch(self, memory: str, first: str, last: str) -> None:
        """Compute some rows."""
        number = self.value(f'ptrtoint ptr {memory} to i64')
        number = self.value(f'add i64 {number}, {ALIGNMENT - 1}')
        number = self.value(f'and i64 {number}, {-ALIGNMENT}')
        scratch = self.value(f'inttoptr i64 {number} to ptr')
        arrays = ', '.join(f'ptr {self.word(name, "ptr")}' for name in ('ins', 'strides', 'outs'))
        self.do(
            f'call void {self.word("batch", "ptr")}({arrays}, ptr {scratch}, i64 {first}, '
            f'i64 {last})'
        )


def _take_function() -> str:
    """Return the text of `take`: process chunks of a job until none is left.

    The owner of the job begins with the first rows, the helpers with the last: so each thread
    finds its data of the previous batch in its cache. With chunks in order of arrival, two
    processors sometimes took as long as one, as they exchanged cache lines.
    """
    r = _Text('internal void @take(ptr %job, ptr %memory, i1 %helps)')
    rows, chunk, chunks = r.word('rows'), r.word('chunk'), r.word('chunks')
    final = r.value(f'sub i64 {chunks}, 1')
    own = r.array('i64', 1)  # chunks that the caller has started
    r.put(own, 'i64', '0')
    r.label('more')
    # No mutex here, where a thread might sleep. The mutex under which a job is found and left
    # orders memory; within a job the rows are disjoint.
    r.unless(r.value(f'icmp slt i64 {r.count("taken")}, {chunks}'), 'end')
    r.choose('%helps', 'last', 'first')
    r.label('first')
    number = r.get(own, 'i64')
    r.put(own, 'i64', r.value(f'add i64 {number}, 1'))
    r.go('rows')
    r.label('last')
    from_last = r.value(f'sub i64 {final}, {r.count("from_last")}')
    r.go('rows')
    r.label('rows')
    number = r.value(f'phi i64 [ {number}, %first ], [ {from_last}, %last ]')
    begin = r.value(f'mul i64 {number}, {chunk}')
    end = r.value(f'add i64 {begin}, {chunk}')
    # the rest of less than a chunk belongs to the last one: no chunk is very short
    end = r.value(f'select i1 {r.same(number, final, "i64")}, i64 {rows}, i64 {end}')
    r.batch('%memory', begin, end)
    r.go('more')
    r.label('end')
    r.do('ret void')
    return r.text()


def _run_function() -> str:
    """Return text of `run`: do a job, with helpers if it is long; 0 if memory is short."""
    r = _Text('i64 @run(ptr %job)')
    # Before any work, which could not be undone.
    memory, rows = r.allocate(), r.word('rows')
    r.when(r.same(memory, 'null'), 'no_memory')
    # A single chunk needs no helpers.
    r.unless(r.value(f'icmp slt i64 {r.word("chunk")}, {rows}'), 'alone')
    r.when(r.value(f'icmp slt i64 {r.get("@threads", "i64")}, 2'), 'alone')
    r.set_word('chunks', r.value(f'sdiv i64 {rows}, {r.word("chunk")}'))
    for name in ('taken', 'from_last', 'helpers'):
        r.set_word(name, '0')
    r.lock()
    # Another job has the helpers.
    r.unless(r.same(r.pool('job'), 'null'), 'busy')
    r.publish('%job')
    r.signal('arrived')
    r.unlock()
    r.do(f'call void @take(ptr %job, ptr {memory}, i1 false)')
    # Helpers finish their last chunks sooner than a thread can sleep and wake.
    with r.loop(str(_SPINS)):
        helpers = r.at('%job', 'i64', str(JOB['helpers']))
        at_work = r.value(f'load atomic i64, ptr {helpers} monotonic, align 8')
        r.when(r.same(at_work, '0', 'i64'), 'done')
    r.label('done')
    r.lock()
    # A helper without rows may have withdrawn the job already, and another one may be published.
    with r.only_if(r.same(r.pool('job'), '%job')):
        r.publish('null')
    # Helpers of another job may signal the condition, so the count is checked again.
    r.label('check')
    r.when(r.same(r.word('helpers'), '0', 'i64'), 'complete')
    r.wait('finished')
    r.go('check')
    r.label('complete')
    r.unlock()
    r.go('end')
    r.label('busy')
    r.unlock()
    r.label('alone')
    r.batch(memory, '0', rows)
    r.label('end')
    r.do(f'call void {r.pool("free")}(ptr {memory})')
    r.do('ret i64 1')
    r.label('no_memory')
    r.do('ret i64 0')
    return r.text()


def _help_function() -> str:
    """Return the text of `help`: help with every job, forever."""
    r = _Text('void @help()')
    r.label('look')
    # Batches often follow each other within microseconds, less than waking up takes: spin first.
    with r.loop(str(_SPINS)):
        job = r.at('@pool', 'ptr', str(POOL.index('job')))
        found = r.value(f'load atomic i64, ptr {job} monotonic, align 8')
        r.unless(r.same(found, '0', 'i64'), 'lock')
    r.label('lock')
    r.lock()
    r.label('found')
    found = r.pool('job')
    r.unless(r.same(found, 'null'), 'job')
    # The mutex is held from `found` on, so no job is missed before the sleep.
    r.wait('arrived')
    r.go('found')
    r.label('job')
    # The job is on its caller's stack: valid while it is published and the mutex is held.
    r.do(f'call void @help_with(ptr {found})')
    r.unlock()
    r.go('look')
    return r.text() + _help_with_function()


def _help_with_function() -> str:
    """Return the text of `help_with`, which holds the mutex at its beginning and end."""
    r = _Text('internal void @help_with(ptr %job)')
    others = r.value(f'sub i64 {r.get("@threads", "i64")}, 1')  # without the owner
    enough = r.value(f'icmp sge i64 {r.word("helpers")}, {others}')
    r.when(enough, 'enough')
    # Counted before the mutex is unlocked: from now on the caller waits for this helper.
    r.set_word('helpers', r.value(f'add i64 {r.word("helpers")}, 1'))
    r.unlock()
    # Without memory it does nothing: the others do its rows.
    memory = r.allocate()
    with r.only_if(r.value(f'icmp ne ptr {memory}, null')):
        r.do(f'call void @take(ptr %job, ptr {memory}, i1 true)')
        r.do(f'call void {r.pool("free")}(ptr {memory})')
    r.lock()
    # No rows are left: withdraw the job.
    with r.only_if(r.same(r.pool('job'), '%job')):
        r.publish('null')
    # The last access to the job: once the mutex is unlocked, it may be gone.
    remaining = r.value(f'sub i64 {r.word("helpers")}, 1')
    r.set_word('helpers', remaining)
    with r.only_if(r.same(remaining, '0', 'i64')):
        r.signal('finished')
    r.do('ret void')
    r.label('enough')
    # Until another job is published.
    r.wait('arrived')
    r.do('ret void')
    return r.text()


def text() -> str:
    """Return the text of the functions and the shared variables of the threads."""
    pool = f'@pool = global [{len(POOL)} x ptr] zeroinitializer\n'
    pool += '@threads = global i64 1\n@ready = global i64 0\n'
    return pool + _take_function() + _run_function() + _help_function()
