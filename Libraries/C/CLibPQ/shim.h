#pragma once

// Debian keeps the header in a folder that is not searched by itself.
#if __has_include(<libpq-fe.h>)
#include <libpq-fe.h>
#else
#include <postgresql/libpq-fe.h>
#endif

#ifdef __linux__
// glibc declares it for _GNU_SOURCE only, which Swift's module of glibc does not define.
int dup3(int descriptor, int replaced, int flags);
#endif
