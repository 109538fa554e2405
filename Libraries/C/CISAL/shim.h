#pragma once

#include <isa-l/igzip_lib.h>

// Swift cannot read a macro of several terms.
static const uint32_t ISAL_LEVEL_1_BUFFER_BYTES = ISAL_DEF_LVL1_DEFAULT;
