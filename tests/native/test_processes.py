"""Groups of programs in processes that are forked."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time

import pytest

from ocp_dyn.native.processes import Group

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork"),
    pytest.mark.filterwarnings("ignore:This process:DeprecationWarning"),
]


def test_a_group_ends_although_a_forked_process_holds_its_pipe():
    group = Group()
    child = os.fork()
    if child == 0:
        time.sleep(60)
        os._exit(0)
    try:
        end = threading.Thread(target=group.end, daemon=True)
        end.start()
        end.join(20)
        assert not end.is_alive()
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def test_no_process_is_forked_while_a_program_starts(monkeypatch):
    seen, start, begun = [], subprocess.Popen, threading.Event()

    def slowly(*arguments, **options):
        begun.set()
        time.sleep(0.2)
        seen.append("started")
        return start(*arguments, **options)

    group = Group()
    monkeypatch.setattr(subprocess, "Popen", slowly)
    running = threading.Thread(target=group.run, args=(["true"],))
    running.start()
    begun.wait()
    child = os.fork()
    if child == 0:
        os._exit(len(seen))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
    running.join()
    group.end()
