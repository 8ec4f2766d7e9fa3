"""Walks a tree in one of the ways that Python has, and prints how long it took, without the start of
the interpreter: `walk_in_python.py WAY DIRECTORY [TIMES]`. The ways `limit.*` need the directory of the
module python_objects in PYTHONPATH."""

import json
import os
import queue
import sys
import threading
import time


def walk_with(walk):
    return lambda top: sum(len(directories) + len(files) for _, directories, files in walk(top))


def stat_with(scandir, **options):
    """Every entry listed and statted, links not followed."""
    def count(top):
        found, pending = 0, [top]
        while pending:
            with scandir(pending.pop(), **options) as entries:
                for entry in entries:
                    entry.stat(follow_symlinks=False)
                    found += 1
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(entry.path)
        return found
    return count


def threads_by_hand(top, count=32):
    """What people write: threads that take directories from a queue."""
    pending, found = queue.Queue(), [0] * count
    pending.put(top)

    def work(number):
        while True:
            directory = pending.get()
            if directory is None:
                return
            with os.scandir(directory) as entries:
                for entry in entries:
                    found[number] += 1
                    if entry.is_dir(follow_symlinks=False):
                        pending.put(entry.path)
            pending.task_done()

    workers = [threading.Thread(target=work, args=[number]) for number in range(count)]
    for worker in workers:
        worker.start()
    pending.join()
    for _ in workers:
        pending.put(None)
    for worker in workers:
        worker.join()
    return sum(found)


def scandir_rs(top):
    import scandir_rs as module

    # Without the extended form, it leaves out symbolic links.
    found = 0
    for _, directories, files, links, others, _ in module.Walk(top, return_type=module.ReturnType.Ext):
        found += len(directories) + len(files) + len(links) + len(others)
    return found


def way(name):
    if name == "threads":
        return threads_by_hand
    if name == "scandir-rs":
        return scandir_rs
    if name.startswith("limit"):
        import python_objects

        return lambda top: python_objects.walk(top, name == "limit.stat")
    if name.startswith("hedgerow"):
        from hedgerow import os as module
    else:
        module = os
    if name == "hedgerow.stat-listed":
        return stat_with(module.scandir, stat=True)
    return walk_with(module.walk) if name.endswith("walk") else stat_with(module.scandir)


def main():
    name, top, times = (*sys.argv[1:], 1)[:3]
    work = way(name)
    started = time.perf_counter()
    cpu = time.process_time()
    for _ in range(int(times)):
        entries = work(top)
    print(json.dumps({
        "wall_s": time.perf_counter() - started,
        "cpu_s": time.process_time() - cpu,
        "entries": entries,
    }))


main()
