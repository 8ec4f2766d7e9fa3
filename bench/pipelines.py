"""Two ways to pack a tree, as schedules on some cores: events in the order of their time."""

import heapq
from collections import deque
from dataclasses import dataclass

PIECE_BYTES = 1 << 20
BATCH_BYTES = 256 << 10
BATCH_ENTRIES = 4096
LEAST_BYTES = 256
ITEMS_PER_WORKER = 10


@dataclass
class Costs:
    """What was measured, in nanoseconds; see crates/squashfs/examples/pack_limit.rs."""

    files: list  # bytes, reading, hashing
    blocks: list  # number of the file, bytes, compressing, stored bytes, writing
    plan_ns: float
    block_bytes: int

    def total_ns(self):
        """All of it."""
        read = sum(read + digest for _, read, digest in self.files)
        return read + self.plan_ns + sum(block[2] + block[4] for block in self.blocks)


class Machine:
    """`cores` that run tasks to their end: the most urgent first, then whoever was ready first."""

    def __init__(self, cores):
        self.now = 0.0
        self._free = cores
        self._ready, self._running = [], []
        self._ticket = 0

    def start(self, urgency, ns, then):
        """Has a task run when a core is free; `then` is called when it is done."""
        self._ticket += 1
        heapq.heappush(self._ready, (urgency, self._ticket, ns, then))

    def run(self):
        """Until nothing is left to do; when that is."""
        while True:
            while self._free and self._ready:
                _, ticket, ns, then = heapq.heappop(self._ready)
                self._free -= 1
                heapq.heappush(self._running, (self.now + ns, ticket, then))
            if not self._running:
                return self.now
            self.now, _, then = heapq.heappop(self._running)
            self._free += 1
            then()


class ByteWindow:
    """Hedgerow's: files are read and hashed in parallel, one plans, batches of blocks are
    compressed in parallel, one writes; each of the two stages has a window in bytes."""

    def __init__(self, costs, cores, window_bytes):
        self.machine, self.cores, self.window_bytes = Machine(cores), cores, window_bytes
        self.items, items_before = _pieces(costs.files)
        self.batches = _batches(costs, items_before)
        self.is_read = [False] * len(self.items)
        self.next_read = self.reading = self.read_bytes = self.taken = self.read_in_order = 0
        self.next_plan = self.packing = self.packed_bytes = 0
        self.is_planning = False
        self.is_packed = [False] * len(self.batches)
        self.next_commit, self.is_committing = 0, False

    def run(self):
        self._advance()
        return self.machine.run()

    def _advance(self):
        while self._can_read():
            self._read()
        self._plan_next()
        if not self.is_committing and self.next_commit < len(self.batches) \
                and self.is_packed[self.next_commit]:
            self._commit()

    def _can_read(self):
        if self.next_read == len(self.items) or self.reading == self.cores:
            return False
        size = self.items[self.next_read][0]
        return self.read_bytes == 0 or self.read_bytes + size <= self.window_bytes

    def _read(self):
        number = self.next_read
        size, ns = self.items[number]
        self.next_read += 1
        self.reading += 1
        self.read_bytes += size

        def done():
            self.reading -= 1
            self.is_read[number] = True
            while self.read_in_order < len(self.items) and self.is_read[self.read_in_order]:
                self.read_in_order += 1
            self._advance()

        self.machine.start(2, ns, done)

    def _plan_next(self):
        if self.is_planning or self.next_plan == len(self.batches) or self.packing == self.cores:
            return
        batch = self.batches[self.next_plan]
        if self.read_in_order < batch.items:
            # What was read leaves its window as it is planned.
            self._take(self.read_in_order)
            while self._can_read():
                self._read()
        elif self.packed_bytes == 0 or self.packed_bytes + batch.bytes <= self.window_bytes:
            self._plan()

    def _take(self, until):
        self.read_bytes -= sum(size for size, _ in self.items[self.taken:until])
        self.taken = max(self.taken, until)

    def _plan(self):
        number = self.next_plan
        batch = self.batches[number]
        self.next_plan += 1
        self.is_planning = True
        self.packing += 1
        self.packed_bytes += batch.bytes
        self._take(batch.items)

        def planned():
            self.is_planning = False
            self.machine.start(1, batch.pack_ns, packed)
            self._advance()

        def packed():
            self.packing -= 1
            self.is_packed[number] = True
            self._advance()

        self.machine.start(0, batch.plan_ns, planned)

    def _commit(self):
        batch = self.batches[self.next_commit]
        self.is_committing = True

        def done():
            self.is_committing = False
            self.next_commit += 1
            self.packed_bytes -= batch.bytes
            self._advance()

        self.machine.start(0, batch.write_ns, done)


@dataclass
class _Batch:
    items: int  # how many items must have been read
    bytes: int
    plan_ns: float
    pack_ns: float
    write_ns: float


def _pieces(files):
    """What readers take, and how many of these each file ends with."""
    items, ends = [], []
    for size, read, digest in files:
        count = max(1, -(-size // PIECE_BYTES))
        items += [(max(size // count, LEAST_BYTES), (read + digest) / count)] * count
        ends.append(len(items))
    return items, ends


def _batches(costs, items_before):
    blocks = deque(costs.blocks)
    plan_ns = costs.plan_ns / max(len(costs.files), 1)
    batches, batch = [], _Batch(0, 0, 0, 0, 0)
    entries = 0
    for number in range(len(costs.files)):
        batch.items = items_before[number]
        batch.plan_ns += plan_ns
        entries += 1
        while blocks and blocks[0][0] <= number:
            _, size, pack_ns, _, write_ns = blocks.popleft()
            batch.bytes += size
            batch.pack_ns += pack_ns
            batch.write_ns += write_ns
            if batch.bytes >= BATCH_BYTES:
                batches.append(batch)
                batch, entries = _Batch(batch.items, 0, 0, 0, 0), 0
        if entries >= BATCH_ENTRIES:
            batches.append(batch)
            batch, entries = _Batch(batch.items, 0, 0, 0, 0), 0
    if entries or batch.bytes:
        batches.append(batch)
    return batches


class ItemWindow:
    """The queue of tar2sqfs: one thread reads, plans and writes, and queues every block and every
    tail for the workers, no more than 10 for each; when there is no room it takes the oldest out.
    A tail costs no work but takes a place; taken out, it goes into the fragment block, which is
    queued when it is full. Nothing is charged for hashing."""

    def __init__(self, costs, cores):
        self.machine, self.cores, self.costs = Machine(cores), cores, costs
        self.room = ITEMS_PER_WORKER * cores
        self.window, self.queue = deque(), deque()
        self.working = 0
        self.waits_for = None
        self.steps = self._main()

    def run(self):
        self._step()
        return self.machine.run()

    def _step(self):
        """The one thread goes on, to where it needs a core or has to wait for an item."""
        for wanted in self.steps:
            if isinstance(wanted, _Item):
                if not wanted.is_done:
                    self.waits_for = wanted
                    return
            elif wanted > 0:
                self.machine.start(0, wanted, self._step)
                return

    def _main(self):
        costs = self.costs
        plan_ns = costs.plan_ns / max(len(costs.files), 1)
        blocks, fragments = deque(costs.blocks), deque()
        for number, (size, read, _) in enumerate(costs.files):
            yield read + plan_ns
            for _ in range(size // costs.block_bytes):
                # A copy of another file has no blocks here: nothing is charged for it.
                if blocks and blocks[0][0] == number:
                    yield from self._put(_Item(*_work(blocks.popleft())))
            while blocks and blocks[0][0] <= number:
                fragments.append(blocks.popleft())
            if size % costs.block_bytes:
                yield from self._put(_Item(0, 0, fragments.popleft() if fragments else None))
        for block in [*fragments, *blocks]:
            yield from self._put(_Item(*_work(block)))
        while self.window:
            yield from self._take_oldest()

    def _put(self, item):
        while len(self.window) >= self.room:
            yield from self._take_oldest()
        self.window.append(item)
        self.queue.append(item)
        self._work()

    def _take_oldest(self):
        item = self.window.popleft()
        yield item
        yield item.write_ns
        if item.fragment is not None:
            # It filled a fragment block, which takes the place that was its own.
            full = _Item(*_work(item.fragment))
            self.window.append(full)
            self.queue.append(full)
            self._work()

    def _work(self):
        while self.queue and self.working < self.cores:
            item = self.queue.popleft()
            self.working += 1
            self.machine.start(1, item.pack_ns, lambda item=item: self._done(item))

    def _done(self, item):
        item.is_done = True
        self.working -= 1
        self._work()
        if self.waits_for is item:
            self.waits_for = None
            self._step()


class _Item:
    def __init__(self, pack_ns, write_ns, fragment=None):
        self.pack_ns, self.write_ns, self.fragment = pack_ns, write_ns, fragment
        self.is_done = False


def _work(block):
    return block[2], block[4]
