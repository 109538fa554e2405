// Nothing to call: the files of this target are linked into the tests, and that is enough.
