"""Settings of the test runner itself."""

import signal

from hypothesis import settings

# A job in the background may have been started with Ctrl-C ignored, which programs that
# the tests start would inherit, and wait for it in vain.
signal.signal(signal.SIGINT, signal.default_int_handler)

# How long one random instance takes says more of the machine than of the code: speed
# has tests and benchmarks of its own.
settings.register_profile("bayesmend", deadline=None)
settings.load_profile("bayesmend")
