"""What scripts/try-wheel runs in a bare root, beside demo.mp4 and, where there is one, truth: a dump of its first 60
frames by the program of a source build."""
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import pysaccade as sc

ARRAYS = ("patches", "geometry", "changed", "index")


def check(condition, what):
    if not condition:
        sys.exit(f"wheel_trial: {what}")


def main():
    check(not any(map(shutil.which, ("ffmpeg", "cc", "gcc", "c++"))), "the root is not bare")
    manifest = sc.dump("demo.mp4", "dump", frames=60, every="frame", backend="cpu", overwrite=True)
    check(manifest["emissions"] == 60, f"{manifest['emissions']} emissions of 60")
    dump = sc.Dump("dump")
    if pathlib.Path("truth").is_dir():
        for name in ARRAYS:
            same = pathlib.Path("dump", f"{name}.npy").read_bytes() == pathlib.Path("truth", f"{name}.npy").read_bytes()
            check(same, f"{name}.npy differs from a source build's")
    check(sc.paint(dump[30], mark=True).shape == (720, 1280, 3), "the picture has another size")

    count = 0
    with sc.Stream("demo.mp4", frames=60, every="frame", backend="cpu") as stream:
        for emission, truth in zip(stream, dump):
            check(np.array_equal(np.asarray(emission.patches), truth.patches), f"patches of frame {truth.frame} differ")
            check(emission.pts_ns == truth.pts_ns, f"time of frame {truth.frame} differs")
            count += 1
    check(count == 60, f"{count} emissions of a stream")

    # Libraries that are opened late: filters, devices.
    check(sc.dump("lavfi:testsrc2=s=320x180:r=25", "late", frames=5, overwrite=True)["frames"] == 5, "lavfi")
    check(sc.dump("demo.mp4", "scaled", vf="scale=640:-2", frames=5, overwrite=True)["frames"] == 5, "filters")
    saccade = [str(pathlib.Path(sys.executable).with_name("saccade"))]
    subprocess.run([*saccade, "reconstruct", "dump", "-o", "seen.mp4", "--overwrite"], check=True)
    subprocess.run([*saccade, "reconstruct", "dump", "-o", "seen.png", "--overwrite"], check=True)
    check(sc.dump("seen.mp4", "again", overwrite=True)["emissions"] > 0, "the film can't be read")
    try:
        sc.dump("http://127.0.0.1:9/x.mp4", "none", open_timeout=2)
    except sc.InputError as error:
        check("Protocol not found" not in str(error), f"no network protocol: {error}")
    print(f"wheel_trial: pysaccade {sc.__version__} on Python {sys.version.split()[0]}, NumPy {np.__version__}: all is right")


main()
