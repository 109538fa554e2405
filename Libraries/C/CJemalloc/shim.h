#pragma once

#include <jemalloc/jemalloc.h>
