// Limits how many tests run together, in every process of tests that links this file. Else all begin at once, and the last of them wait
// for minutes. Swift Testing reads the variable before any code of ours in Swift runs, and has no other interface for it.

#include <stdlib.h>

__attribute__((constructor)) static void limit_width(void) {
    setenv("SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH", "24", 0);
}
