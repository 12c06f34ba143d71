"""The tests of housewise."""

import os

# Before torch and NumPy are imported: several workers share the processors, and threads that wait for each other's
# processors are many times slower. Commands inherit both.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
