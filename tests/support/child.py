"""Scripts in a process of their own, with little memory and little time."""

import subprocess
import sys
import textwrap

PREAMBLE = """
import resource
import bayesmend as bm

def allow(megabytes):
    '''Let the process grow by this much from here on.'''
    with open("/proc/self/statm") as file:
        pages = int(file.read().split()[0])
    most = pages * resource.getpagesize() + megabytes * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (most, most))

def peak():
    '''Give the most megabytes that were in use at once.'''
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
"""


def run_child(script, *, seconds=60):
    """Run a script that may call `allow` and `peak`; give its standard output.

    It must end by itself, without any error, and soon.
    """
    command = [sys.executable, "-c", PREAMBLE + textwrap.dedent(script)]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=seconds, check=False
    )
    assert done.returncode == 0, (done.returncode, done.stderr)
    return done.stdout.strip()
