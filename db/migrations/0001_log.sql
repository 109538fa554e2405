-- The log: every domain event that was ever recorded, in the order of its commit. And what must last beside it. The functions of the
-- schema stand in db/functions; they come in the same transaction.
CREATE SCHEMA log;

-- Append-only. docs/decisions/0062-one-writer.md, docs/decisions/0059-personal-members.md
CREATE TABLE log.recorded_events (
    -- Contiguous from 1 and in commit order; see log.append. The primary key makes a writer that bypasses it fail loudly.
    position bigint PRIMARY KEY CHECK (position > 0),
    id uuid NOT NULL CONSTRAINT recorded_events_id UNIQUE,
    stream text COLLATE "C" NOT NULL,
    version integer NOT NULL CHECK (version > 0),
    type text NOT NULL,
    format smallint NOT NULL CHECK (format > 0),
    recorded_at timestamptz NOT NULL,
    -- Facts, which never change. json, not jsonb: the exact bytes that were written.
    data json NOT NULL,
    metadata json NOT NULL,
    -- Members that tell about a person: a JSON object, the exact bytes; {} if there never were any, NULL after their erasure.
    personal json DEFAULT '{}',
    CONSTRAINT recorded_events_stream_version UNIQUE (stream, version)
);

-- Has no rows. Its lock is the log's lock, which log.append and log.lock take.
CREATE TABLE log.append_lock ();

-- This table keeps the commands whose callers gave them an idempotency key: what a repetition is told by, and answered with. It is
-- append-only.
CREATE TABLE log.commands (
    -- The recorded event that answers it. Its id derives from the user and their key, so an append with a key touches no random page but
    -- the one of this id in the log. No foreign key: the log is append-only, and a check would lock its rows.
    position bigint,
    -- SHA-256 of the request.
    request_hash bytea NOT NULL CHECK (octet_length(request_hash) = 32),
    -- The stream of the person whose key it is. Its erasure ends the command.
    owner text COLLATE "C" NOT NULL,
    -- Of a command that changed nothing, instead of a position: its id, and the stream's version that answers it.
    id uuid,
    stream text COLLATE "C",
    version integer,
    CONSTRAINT commands_answer CHECK (num_nulls(id, stream, version) = CASE WHEN position IS NULL THEN 0 ELSE 3 END)
);
CREATE UNIQUE INDEX commands_position ON log.commands (position) WHERE position IS NOT NULL;
CREATE UNIQUE INDEX commands_id ON log.commands (id) WHERE id IS NOT NULL;
-- The commands of one person. A B-tree would cost each append a write to a random page.
CREATE INDEX commands_owner ON log.commands USING brin (owner text_bloom_ops (n_distinct_per_range = 2000))
    WITH (pages_per_range = 32, autosummarize = off);

-- This is the function of the guards. db/functions/guards.sql, in the same transaction, says what it accepts.
CREATE FUNCTION log.refuse_change() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE insufficient_privilege; END';

CREATE TRIGGER refuse_change BEFORE DELETE OR TRUNCATE ON log.recorded_events
    FOR EACH STATEMENT EXECUTE FUNCTION log.refuse_change();
CREATE TRIGGER guard_personal BEFORE UPDATE ON log.recorded_events FOR EACH ROW EXECUTE FUNCTION log.refuse_change();
CREATE TRIGGER refuse_change BEFORE UPDATE OR TRUNCATE ON log.commands
    FOR EACH STATEMENT EXECUTE FUNCTION log.refuse_change();
CREATE TRIGGER guard_command BEFORE DELETE ON log.commands FOR EACH ROW EXECUTE FUNCTION log.refuse_change();
-- ALWAYS: also where session_replication_role would switch ordinary triggers off.
ALTER TABLE log.recorded_events ENABLE ALWAYS TRIGGER refuse_change, ENABLE ALWAYS TRIGGER guard_personal;
ALTER TABLE log.commands ENABLE ALWAYS TRIGGER refuse_change, ENABLE ALWAYS TRIGGER guard_command;

-- A vacuum writes the summaries that recorded_events_search lacks, and freezes each page that it sees full, because these rows never
-- change. By default PostgreSQL vacuums a table of insertions after it has grown by a fifth, and freezes no young row.
ALTER TABLE log.recorded_events SET (
    autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 200000,
    autovacuum_freeze_min_age = 0, toast.autovacuum_freeze_min_age = 0);
ALTER TABLE log.commands SET (
    autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 200000, autovacuum_freeze_min_age = 0);

-- What an operator searches the log by. A BRIN keeps a summary of every 32 pages and costs an append little. A vacuum writes the
-- summaries. With autosummarize, autovacuum would write them too and end the vacuum. A vacuum that ends so leaves a placeholder, and
-- PostgreSQL 15 reads all pages behind it in every search. B-trees would cost every append
-- random writes under the log's lock.
CREATE INDEX recorded_events_search ON log.recorded_events USING brin (
    -- As an expression, so that a stretch of positions can be asked of this index and not of the primary key.
    ((position + 0)) int8_minmax_ops,
    recorded_at timestamptz_minmax_ops,
    -- Each size is the number of different values in 32 pages. More of them make the summary say "perhaps" more often.
    type text_bloom_ops (n_distinct_per_range = 64),
    split_part(stream, '-', 1) text_bloom_ops (n_distinct_per_range = 64),
    (metadata ->> 'request_id') text_bloom_ops (n_distinct_per_range = 800),
    (metadata ->> 'trace_id') text_bloom_ops (n_distinct_per_range = 800),
    (metadata ->> 'actor') text_bloom_ops (n_distinct_per_range = 800)
) WITH (pages_per_range = 32, autosummarize = off);
-- Which erasures a copy of a read model lacks.
CREATE INDEX recorded_events_erasures ON log.recorded_events (type, position) WHERE type LIKE '%Erased';
-- What the erasure of one person has recorded.
CREATE INDEX recorded_events_of_erasure ON log.recorded_events ((metadata ->> 'request_id'), position) WHERE type LIKE '%Erased';

-- The one row makes the ids of recorded events that derive from something that can be guessed, such as an e-mail address. It is in no
-- archive: a guess cannot be tested without the database.
CREATE TABLE log.pepper (
    is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    value uuid NOT NULL DEFAULT gen_random_uuid()
);
INSERT INTO log.pepper DEFAULT VALUES;
CREATE TRIGGER refuse_change BEFORE UPDATE OR DELETE OR TRUNCATE ON log.pepper
    FOR EACH STATEMENT EXECUTE FUNCTION log.refuse_change();
ALTER TABLE log.pepper ENABLE ALWAYS TRIGGER refuse_change;

-- The numbers that users, events, accounts and tasks get. They must outlive every rebuild, so they are no read model's.
CREATE SEQUENCE log.user_ids;
CREATE SEQUENCE log.event_ids;
CREATE SEQUENCE log.account_ids;
CREATE SEQUENCE log.task_ids;

-- How the tables of each read model are made, by the programs that have it. `humon migrate` writes the rows as the owner; no role of the
-- application may, so it can have no schema made but these.
CREATE TABLE log.projections (
    name text COLLATE "C" NOT NULL CHECK (name ~ '^[a-z]+$'),
    version integer NOT NULL CHECK (version > 0),
    -- Statements that name no schema.
    tables text NOT NULL,
    indexes text NOT NULL,
    PRIMARY KEY (name, version)
);

-- The copies of read models, by the schema of their tables. docs/decisions/0027-no-hot-rows.md
CREATE TABLE log.read_models (
    schema text NOT NULL,
    -- Up to which the log is applied, except of those named by the newest row of log.inline_read_models.
    position bigint NOT NULL,
    built_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- A rebuild makes the indexes after the first pass over the log.
    has_indexes boolean NOT NULL DEFAULT false,
    -- There is one row a schema. The position is in the key so that the newest version of a row comes first in the index, however many
    -- older ones a snapshot keeps. All functions look there.
    PRIMARY KEY (schema, position)
);

-- Which read models the last append changed in its own transaction, by schema. They are at the log's end without being moved.
-- The newest row counts. It is replaced when a program with other read models appends, always under the log's lock.
CREATE TABLE log.inline_read_models (
    number bigint PRIMARY KEY,
    read_models text[] NOT NULL
);
INSERT INTO log.inline_read_models VALUES (0, '{}');

-- The position of each subscription. There is one row a subscription. Each step of the leader moves the position from the one that it
-- knows, so that a former leader changes nothing. The position is in the key so that the newest version of a row comes first in the index,
-- however many older ones a snapshot keeps. docs/decisions/0012-subscriptions.md
CREATE TABLE log.subscriptions (
    name text,
    -- Everything up to here is handled, or parked.
    position bigint,
    -- The error that interrupted the last leader; NULL once the position has moved since.
    interruption text,
    PRIMARY KEY (name, position)
);

-- Streams that a subscription cannot go on with, from the first recorded event that it did not handle.
CREATE TABLE log.parked_streams (
    subscription text NOT NULL,
    stream text COLLATE "C" NOT NULL,
    version integer NOT NULL,
    position bigint NOT NULL,
    reason text NOT NULL,
    parked_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- An operator has mended the cause, and the leader is to try again.
    is_to_be_retried boolean NOT NULL DEFAULT false,
    PRIMARY KEY (subscription, stream)
);

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
