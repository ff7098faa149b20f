"""Settings of the test runner itself."""

import signal

# A job in the background may have been started with Ctrl-C ignored, which programs that
# the tests start would inherit, and wait for it in vain.
signal.signal(signal.SIGINT, signal.default_int_handler)
