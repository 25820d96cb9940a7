"""A store that can't be read: each call that reads it fails in turn, with EIO and EACCES. Nothing is removed, no video is
given up, no line says that anything is damaged, and the exit code is 1."""
import concurrent.futures
import errno
import itertools
import os
import shutil
import unittest

from work_support import WorkTest, build_library, saccade

DAMAGE = ("remove", "damaged", "cut short", "have changed", "missing", "plan again", "no plan", "no marker", "quarantined (")
AT_ONCE = 4


def content(folder, without=("attempts",)):
    return {path.relative_to(folder): path.read_bytes() for path in sorted(folder.rglob("*"))
            if path.is_file() and path.relative_to(folder).parts[0] not in without}


class Call:
    """A command on a copy of a store, in which a call that reads the store fails. {store} and {other}: the copy's path, and a
    free one. `call`: which it was, empty where the command makes fewer calls."""

    def __init__(self, test, source, command, nth, fault):
        place = test.folder / f"{test.id().rsplit('.', 1)[-1]}-{nth}-{fault}"
        self.store, self.fault, hit = place / "store", fault, place / "hit"
        shutil.copytree(source, self.store)
        env = {**os.environ, "LD_PRELOAD": str(test.library), "SACCADE_BELOW": f"{self.store}/", "SACCADE_NTH": str(nth),
               "SACCADE_ERRNO": str(fault), "SACCADE_HIT": str(hit),
               "ASAN_OPTIONS": f"{os.environ.get('ASAN_OPTIONS', '')}:verify_asan_link_order=0".lstrip(":")}
        done = saccade(*(str(word).format(store=self.store, other=place / "other") for word in command), env=env)
        self.code, self.said = done.returncode, (done.stdout + done.stderr).decode()
        self.call = hit.read_text() if hit.exists() else ""
        self.content = content(self.store)
        shutil.rmtree(place)


class Unreadable(WorkTest):
    count = 3

    @classmethod
    def setUpClass(cls):
        """Stores of two units: of one half is done; the other is done, and a video was quarantined. Both have an orphan,
        the claim of a worker that is gone, and the heartbeat of another one."""
        super().setUpClass()
        cls.library = build_library(cls.folder, "unreadable.c")
        cls.half, cls.whole = cls.folder / "half", cls.folder / "whole"
        good, bad = cls.clips[1:]
        bad.write_bytes(b"no video" * 100)
        cls.options = ("--backend", "cpu", "--unit-seconds", "1")
        for store, second in ((cls.half, good), (cls.whole, bad)):
            manifest = store.with_suffix(".csv")
            manifest.write_text(f"uri,end\n{cls.clips[0]},1\n{second},1\n")
            assert saccade("plan", manifest, "-o", store, *cls.options).returncode == 0
        assert saccade("work", cls.half).returncode == 0
        (cls.half / "commits/00000001.json").unlink()
        assert saccade("work", cls.whole).returncode == 3
        for store in (cls.half, cls.whole):
            (store / "shards/00000000.aaaaaaaaaaaa.tar").write_bytes(b"of an attempt that lost")
            for folder in ("claims", "workers"):
                (store / folder).mkdir(exist_ok=True)
            (store / "claims/00000001.0").write_text('{"worker":"gone.1.a"}\n')
            (store / "workers/other.2.b.json").write_text('{"beat":3,"host":"other","engine":"0.2.0","plan":""}\n')

    def each_call_fails(self, source, *command, faults=((errno.EIO,), (errno.EACCES,)), without=("attempts",)):
        """faults: a round of calls each; the errors in turn. without: folders of what is being worked on. Returns what the
        command does where all can be read."""
        before = content(source, without)
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as threads:
            for of_round in faults:
                for first in itertools.count(1, AT_ONCE):
                    some = [(nth, of_round[nth % len(of_round)]) for nth in range(first, first + AT_ONCE)]
                    calls = list(threads.map(lambda one: Call(self, source, command, *one), some))
                    for call in calls:
                        if call.call:
                            self.check(call, before)
                    if not calls[-1].call:
                        break
                self.assertGreater(first, AT_ONCE)
        self.assertEqual(calls[-1].code, 0, calls[-1].said)
        return calls[-1]

    def check(self, call, before):
        # Of what is being worked on nothing counts: a folder there that stays is the next run's to remove.
        if "/attempts" in call.call and call.code == 0:
            return
        with self.subTest(call=call.call, fault=errno.errorcode[call.fault]):
            self.assertEqual(call.code, 1, call.said)
            self.assertIn(os.strerror(call.fault), call.said)
            for word in DAMAGE:
                self.assertNotIn(word, call.said)
            self.assertEqual({name: call.content.get(name) for name in before}, before)
            self.assertEqual(*({name for name in names if name.parts[0] == "quarantine"} for names in (call.content, before)))

    def test_status(self):
        self.each_call_fails(self.whole, "status", "{store}")

    def test_verify(self):
        self.each_call_fails(self.whole, "verify", "{store}")

    def test_gc(self):
        done = self.each_call_fails(self.whole, "gc", "{store}", "--older-than", "0")
        self.assertEqual(len(done.content), len(content(self.whole)) - 3)

    def test_retry(self):
        self.each_call_fails(self.whole, "retry", "{store}", "-o", "{other}")

    def test_retry_in_place(self):
        self.each_call_fails(self.whole, "retry", "{store}", "--in-place")

    def test_plan_of_what_is_planned(self):
        self.each_call_fails(self.whole, "plan", self.whole.with_suffix(".csv"), "-o", "{store}", *self.options)

    def test_work(self):
        self.each_call_fails(self.half, "work", "{store}", "--jobs", "1", "--progress", "none", faults=((errno.EIO, errno.EACCES),),
                             without=("attempts", "claims", "workers"))


if __name__ == "__main__":
    unittest.main()
