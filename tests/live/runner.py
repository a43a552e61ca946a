"""Runs tests so that what was left out can be seen: a line for each skip, and CTest's code for "skipped" when nothing ran."""
import sys
import unittest

NOTHING_RAN = 77


def run(suite):
    result = unittest.TextTestRunner(verbosity=2).run(suite)
    for test, reason in result.skipped:
        print(f"SKIPPED {test}: {reason}")
    if not result.wasSuccessful():
        sys.exit(1)
    ran = result.testsRun - len([test for test, _ in result.skipped if isinstance(test, unittest.TestCase)])
    sys.exit(0 if ran > 0 else NOTHING_RAN)


def run_module(names=()):
    """Every test of the program that calls this, or those named."""
    module = sys.modules["__main__"]
    loader = unittest.defaultTestLoader
    run(loader.loadTestsFromNames(names, module) if names else loader.loadTestsFromModule(module))
