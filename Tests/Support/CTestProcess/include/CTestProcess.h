// Nothing to call: mutex.c is linked into the tests, and that is enough.
