"""CPython's own tests of os.walk and os.scandir, of the interpreter that runs, against ours."""

import os
import types
import unittest

import pytest

import hedgerow.os as ours

test_os = None
for name in ("test.test_os.test_os", "test.test_os"):
    try:
        test_os = __import__(name, fromlist=["*"])
        break
    except ImportError:
        continue
if test_os is None:
    pytest.skip("the standard library's tests are not installed", allow_module_level=True)

# What is not ours to pass, with the reason.
EXPECTED = {}


class Stand(types.ModuleType):
    """The module os with our functions in the place of its own."""

    scandir = staticmethod(ours.scandir)
    walk = staticmethod(ours.walk)
    DirEntry = ours.DirEntry
    supports_fd = os.supports_fd | {ours.scandir}

    def __getattr__(self, name):
        return getattr(os, name)

    def __setattr__(self, name, value):
        setattr(os, name, value)


def cases():
    for name in ("WalkTests", "BytesWalkTests", "TestScandir", "TestDirEntry"):
        found = getattr(test_os, name, None)
        if found is None:
            continue
        for test in unittest.defaultTestLoader.loadTestsFromTestCase(found):
            yield pytest.param(test, id=f"{name}.{test._testMethodName}")


@pytest.mark.parametrize("test", list(cases()))
def test_of_cpython(test, monkeypatch):
    monkeypatch.setattr(test_os, "os", Stand("os"))
    if test.id().rpartition(".")[2] in EXPECTED:
        pytest.skip(EXPECTED[test.id().rpartition(".")[2]])
    result = unittest.TestResult()
    test.run(result)
    for _, reason in result.skipped:
        pytest.skip(reason)
    for _, trace in result.failures + result.errors:
        raise AssertionError(trace)


def test_the_tests_were_found():
    found = [case.id for case in cases()]
    assert len(found) >= 36, found
