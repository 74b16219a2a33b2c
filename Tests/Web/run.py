"""Runs the tests of the files or tests that are named, or all; ends with the figures."""
import pathlib
import sys
import unittest

folder = pathlib.Path(__file__).parent
sys.path.insert(0, str(folder))
import browser  # noqa: E402
import figures  # noqa: E402


def suite(names):
    loader = unittest.defaultTestLoader
    if not names:
        return loader.discover(str(folder), pattern="test_*.py")
    return loader.loadTestsFromNames([name if name.startswith("test_") else f"test_{name}" for name in names])


if __name__ == "__main__":
    chosen = [name for name in sys.argv[1].split(",") if name] if len(sys.argv) > 1 else []
    unittest.TestCase.maxDiff = None
    try:
        result = unittest.TextTestRunner(verbosity=2).run(suite(chosen))
    finally:
        browser.quit_all()
    figures.write()
    failed = len({case.id().split(" ")[0] for case, _ in result.failures + result.errors})
    print(f"{max(result.testsRun - failed, 0)} passed, {failed} failed")
    sys.exit(0 if result.wasSuccessful() and result.testsRun else 1)
