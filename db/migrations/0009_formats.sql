-- The stored formats that each version of the program reads and writes. The first server of a version inserts its rows. Each
-- server holds an advisory lock with the key of its version, which ends with its session: docs/decisions/0028-history-and-formats.md
CREATE TABLE log.program_formats (
    -- The key of the version: a digest of its formats, and the second key of its servers' advisory locks.
    program integer NOT NULL CHECK (program > 0),
    category text COLLATE "C" NOT NULL,
    type text COLLATE "C" NOT NULL,
    -- It reads the formats from 1 to this one.
    readable smallint NOT NULL CHECK (readable > 0),
    -- NULL: it reads the type and does not write it.
    written smallint CHECK (written > 0),
    registered_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (program, category, type)
);
