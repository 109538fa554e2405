-- Oldest program that runs on a database with this migration: that of this migration. Another program cannot read separated events, and
-- log.append has other parameters. Stop all servers before.
--
-- Facts stay in the column data. Members that tell about a person stand in a column of their own, so that an erasure can end them.
-- docs/decisions/0059-personal-members.md
ALTER TABLE log.recorded_events
    -- A JSON object that begins with a salt; NULL if there are no personal members, or after their erasure. The exact bytes.
    ADD COLUMN personal json,
    -- SHA-256 of the bytes of personal, which stays after an erasure; NULL if there never were personal members.
    ADD COLUMN personal_digest bytea CHECK (octet_length(personal_digest) = 32),
    ADD CONSTRAINT recorded_events_personal CHECK (personal IS NULL OR personal_digest IS NOT NULL);

DROP FUNCTION log.append(
    uuid[], text[], integer[], text[], smallint[], timestamptz[], text[], text[], text[], integer[]
);
-- db/functions/append.sql has them with conditions on actors.
DROP FUNCTION log.require(text[], uuid[]);
DROP FUNCTION log.failing_conditions(text[], uuid[]);

-- log.refuse_change decides row by row: an erasure may end personal members and commands.
DROP TRIGGER refuse_change ON log.recorded_events;
CREATE TRIGGER refuse_change BEFORE DELETE OR TRUNCATE ON log.recorded_events
    FOR EACH STATEMENT EXECUTE FUNCTION log.refuse_change();
ALTER TABLE log.recorded_events ENABLE ALWAYS TRIGGER refuse_change;
CREATE TRIGGER guard_personal BEFORE UPDATE ON log.recorded_events FOR EACH ROW EXECUTE FUNCTION log.refuse_change();
ALTER TABLE log.recorded_events ENABLE ALWAYS TRIGGER guard_personal;

DROP TRIGGER refuse_change ON log.commands;
CREATE TRIGGER refuse_change BEFORE UPDATE OR TRUNCATE ON log.commands
    FOR EACH STATEMENT EXECUTE FUNCTION log.refuse_change();
ALTER TABLE log.commands ENABLE ALWAYS TRIGGER refuse_change;
CREATE TRIGGER guard_command BEFORE DELETE ON log.commands FOR EACH ROW EXECUTE FUNCTION log.refuse_change();
ALTER TABLE log.commands ENABLE ALWAYS TRIGGER guard_command;

-- For an erasure, which ends the commands of streams.
CREATE INDEX commands_stream ON log.commands (stream);

-- How far `humon migrate` has separated the events that earlier releases recorded: one row. It ends at the end of the log of this
-- migration.
CREATE TABLE log.separation (
    is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    position bigint NOT NULL CHECK (position >= 0),
    last_position bigint NOT NULL CHECK (position <= last_position)
);
INSERT INTO log.separation (position, last_position) SELECT 0, coalesce(max(position), 0) FROM log.recorded_events;
