"""Runs the unittest cases of one file: fails when there are none, exits 77 (skipped, for CTest) when all were skipped, or none
is run because SACCADE_LEFT_OUT names what the build lacks for them; SACCADE_REQUIRE makes a failure of that."""
import importlib.util
import os
import pathlib
import sys
import unittest

from required import required

path = pathlib.Path(sys.argv[1]).resolve()
left_out = os.environ.get("SACCADE_LEFT_OUT")
if left_out:
    print(f"{path.name}: this build has no {left_out}", file=sys.stderr)
    sys.exit(1 if required(left_out) else 77)
sys.path.insert(0, str(path.parent))
sys.dont_write_bytecode = True
spec = importlib.util.spec_from_file_location(path.stem, path)
module = importlib.util.module_from_spec(spec)
sys.modules[path.stem] = module
spec.loader.exec_module(module)
suite = unittest.defaultTestLoader.loadTestsFromModule(module)
if suite.countTestCases() == 0:
    sys.exit(f"{path}: no test cases")
result = unittest.TextTestRunner(verbosity=2, stream=sys.stderr).run(suite)
if not result.wasSuccessful():
    sys.exit(1)
if len(result.skipped) == result.testsRun:
    sys.exit(77)
