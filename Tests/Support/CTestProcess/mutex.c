// Tells the thread sanitizer when a contended `Mutex` of Swift's Synchronization is taken and given back.
//
// The uncontended path of `Mutex` is inlined into our code as an atomic exchange, which the sanitizer sees. The contended path is in
// libswiftSynchronization.so, which is not instrumented: the kernel hands the lock over by futex, and every access under a lock that
// was waited for is reported as a race. These two functions stand before those of the library, call them, and say what happened.
// A toolchain that renames them brings the false reports back, and nothing worse.

#if __has_feature(thread_sanitizer) && defined(__linux__)

#define _GNU_SOURCE
#include <dlfcn.h>
#include <sanitizer/tsan_interface.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define SWIFT __attribute__((swiftcall))
#define CONTEXT __attribute__((swift_context))

// Synchronization._MutexHandle._lockSlow(Swift.UInt32) -> () and ._unlockSlow() -> ()
#define LOCK_SLOW "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK_SLOW "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

SWIFT void lock_slow(uint32_t thread, CONTEXT void *mutex) __asm__(LOCK_SLOW);
SWIFT void unlock_slow(CONTEXT void *mutex) __asm__(UNLOCK_SLOW);

static SWIFT void (*original_lock_slow)(uint32_t, CONTEXT void *);
static SWIFT void (*original_unlock_slow)(CONTEXT void *);

static void *original(const char *name) {
    void *function = dlsym(RTLD_NEXT, name);
    if (!function) {
        fprintf(stderr, "Tests/Support/CTestProcess: this toolchain has no %s\n", name);
        abort();
    }
    return function;
}

__attribute__((constructor)) static void find_originals(void) {
    original_lock_slow = original(LOCK_SLOW);
    original_unlock_slow = original(UNLOCK_SLOW);
}

SWIFT void lock_slow(uint32_t thread, CONTEXT void *mutex) {
    original_lock_slow(thread, mutex);
    __tsan_acquire(mutex);
}

SWIFT void unlock_slow(CONTEXT void *mutex) {
    __tsan_release(mutex);
    original_unlock_slow(mutex);
}

#endif
