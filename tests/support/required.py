"""What this run may not skip: SACCADE_REQUIRE, a comma list of "gl", "cuda", "rtsp" ... (required.h is its twin in C++)."""
import os
import unittest


def required(feature):
    """Whether a missing feature is a failure and not a skip."""
    return feature in os.environ.get("SACCADE_REQUIRE", "").split(",")


def skip_or_fail(feature, why):
    if required(feature):
        raise AssertionError(f"SACCADE_REQUIRE asks for {feature}: {why}")
    raise unittest.SkipTest(why)
