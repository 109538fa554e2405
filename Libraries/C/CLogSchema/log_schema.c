// The SQL files of db, embedded by the compiler: C23's #embed takes some milliseconds for files that take the Swift compiler seconds as
// array literals. The compiler lists them as dependencies, so that a changed file is compiled again.
#include "CLogSchema.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

#define FILE(name) \
    unsigned char sql_##name(size_t index) { return index < sizeof bytes_##name ? bytes_##name[index] : 0; }

static const unsigned char bytes_0001_log[] = {
#embed "../../../db/migrations/0001_log.sql"
};
FILE(0001_log)

static const unsigned char bytes_append[] = {
#embed "../../../db/functions/append.sql"
};
FILE(append)

static const unsigned char bytes_erasure[] = {
#embed "../../../db/functions/erasure.sql"
};
FILE(erasure)

static const unsigned char bytes_lookups[] = {
#embed "../../../db/functions/lookups.sql"
};
FILE(lookups)

static const unsigned char bytes_guards[] = {
#embed "../../../db/functions/guards.sql"
};
FILE(guards)

static const unsigned char bytes_read_models[] = {
#embed "../../../db/functions/read_models.sql"
};
FILE(read_models)

static const unsigned char bytes_grants[] = {
#embed "../../../db/grants.sql"
};
FILE(grants)
