-- No append updates a row that every append updates: one open snapshot would keep all versions of it and make every append slow.
-- docs/decisions/0027-no-hot-rows.md
--
-- Servers of the version before go on beside this. They call log.append with the same arguments. Their log.checkpoints is a view
-- from now on, with triggers, and shows true positions. A transaction that reads the position of an inline read model holds appends
-- back until its end, because it may apply the log from that position on. log.followers is a view to read from; no server of that
-- version runs a follower.

-- Appends wait for this only while nothing else is in the way: a dump that reads a table may take minutes.
DO $$
BEGIN
    LOOP
        BEGIN
            SET LOCAL lock_timeout = '250ms';
            PERFORM log.lock();
            LOCK TABLE log.checkpoints, log.followers IN ACCESS EXCLUSIVE MODE;
            SET LOCAL lock_timeout = 0;
            EXIT;
        EXCEPTION
            WHEN lock_not_available THEN NULL;
        END;
        PERFORM pg_sleep(0.5);
    END LOOP;
END
$$;

-- The copies of read models. The position is that up to which the log is applied, except of those named by the newest row of
-- log.inline_read_models.
ALTER TABLE log.checkpoints RENAME TO read_models;
ALTER TABLE log.read_models DROP CONSTRAINT checkpoints_pkey;
-- There is one row a schema, as there is one schema of a name. The position is in the key so that the newest version of a row
-- comes first in the index, however many older ones a snapshot keeps. All functions below look there.
ALTER TABLE log.read_models ADD PRIMARY KEY (schema, position);
-- Not to be dropped before that, though nothing shows that a server answers from it.
ALTER TABLE log.read_models ADD COLUMN served_until timestamptz NOT NULL DEFAULT '-infinity';
UPDATE log.read_models SET served_until = served_at + interval '1 minute' WHERE isfinite(served_at);

-- Which read models the last append changed in its own transaction, by schema. They are at the log's end without being moved.
-- The newest row counts. It is replaced when a program with other read models appends, always under the log's lock.
CREATE TABLE log.inline_read_models (
    number bigint PRIMARY KEY,
    read_models text[] NOT NULL
);
INSERT INTO log.inline_read_models VALUES (0, '{}');

-- How far these copies have followed the log, as of one snapshot.
CREATE FUNCTION log.read_model_positions(schemas text[])
RETURNS TABLE (schema text, version integer, "position" bigint, is_inline boolean)
LANGUAGE plpgsql STABLE SET enable_seqscan = off AS $$
BEGIN
    RETURN QUERY SELECT m.schema, m.version,
        CASE WHEN m.schema = ANY (newest.read_models) THEN tail.position ELSE m.position END, m.schema = ANY (newest.read_models)
    FROM unnest(schemas) AS wanted (schema)
    CROSS JOIN LATERAL (
        SELECT r.schema, r.version, r.position FROM log.read_models AS r
        WHERE r.schema = wanted.schema ORDER BY r.position DESC LIMIT 1
    ) AS m
    CROSS JOIN (SELECT i.read_models FROM log.inline_read_models AS i ORDER BY i.number DESC LIMIT 1) AS newest
    CROSS JOIN (SELECT coalesce(max(e.position), 0) AS position FROM log.recorded_events AS e) AS tail;
END
$$;

-- Locks the rows of these copies and returns the schemas of the locked rows. A row that was renamed meanwhile is not among them.
-- No other transaction moves a locked copy, makes it inline or ends that.
CREATE FUNCTION log.lock_read_models(schemas text[]) RETURNS SETOF text LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    name text;
BEGIN
    FOR name IN SELECT DISTINCT s FROM unnest(schemas) AS s ORDER BY s LOOP
        RETURN QUERY SELECT m.schema FROM log.read_models AS m
            WHERE m.schema = name ORDER BY m.position DESC LIMIT 1 FOR UPDATE;
    END LOOP;
END
$$;

-- Moves these copies forward to a position.
CREATE FUNCTION log.move_read_models(schemas text[], destination bigint) RETURNS void
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    name text;
    start bigint;
BEGIN
    FOR name IN SELECT DISTINCT s FROM unnest(schemas) AS s ORDER BY s LOOP
        SELECT m.position INTO start FROM log.read_models AS m
        WHERE m.schema = name ORDER BY m.position DESC LIMIT 1 FOR UPDATE;
        IF start < destination THEN
            UPDATE log.read_models AS m SET position = destination WHERE m.schema = name AND m.position = start;
        END IF;
    END LOOP;
END
$$;

-- An append calls this when the append before it changed other read models in its transaction. The tail is written down as the
-- position of the read models that it does not change. Its own read models must be at the tail.
CREATE FUNCTION log.change_inline_read_models(
    read_models text[], read_model_versions integer[], tail bigint, next_tail bigint
) RETURNS void LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    newest log.inline_read_models;
    wanted record;
    found_position bigint;
BEGIN
    SELECT i.* INTO newest FROM log.inline_read_models AS i ORDER BY i.number DESC LIMIT 1;
    PERFORM log.move_read_models(ARRAY(SELECT unnest(newest.read_models) EXCEPT SELECT unnest(read_models)), tail);
    FOR wanted IN
        SELECT w.schema, w.version, w.schema = ANY (newest.read_models) AS is_inline
        FROM unnest(read_models, read_model_versions) AS w (schema, version) ORDER BY w.schema
    LOOP
        -- First without the row's lock: a session that catches the copy up may hold it for seconds.
        SELECT m.position INTO found_position FROM log.read_models AS m
        WHERE m.schema = wanted.schema AND m.version = wanted.version ORDER BY m.position DESC LIMIT 1;
        IF found_position = tail AND NOT wanted.is_inline THEN
            -- A new version of the row makes PostgreSQL evaluate it again for a session that waits for its lock.
            UPDATE log.read_models AS m SET position = next_tail
            WHERE m.schema = wanted.schema AND m.version = wanted.version AND m.position = tail;
            IF NOT FOUND THEN
                found_position := NULL;
            END IF;
        END IF;
        IF found_position IS NULL OR NOT wanted.is_inline AND found_position <> tail THEN
            RAISE EXCEPTION 'a read model is missing, behind the log, or of another version'
                USING ERRCODE = 'HU001', HINT = 'run: humon projections rebuild';
        END IF;
    END LOOP;
    INSERT INTO log.inline_read_models VALUES (newest.number + 1, read_models);
    DELETE FROM log.inline_read_models AS i WHERE i.number = newest.number;
END
$$;

-- log.append as before, but for the read models: if the append before it changed the same ones, it reads one row and writes none.
CREATE OR REPLACE FUNCTION log.append(
    ids uuid[], streams text[], versions integer[], types text[], formats smallint[], times timestamptz[],
    data text[], metadata text[], read_models text[], read_model_versions integer[]
) RETURNS bigint LANGUAGE plpgsql SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    tail bigint;
    inline text[];
BEGIN
    -- log.lock(), written out.
    PERFORM pg_advisory_xact_lock(x'0068756d6f6e01'::bigint);
    SELECT coalesce(max(position), 0) INTO tail FROM log.recorded_events;
    INSERT INTO log.recorded_events (position, id, stream, version, type, format, recorded_at, data, metadata)
    SELECT tail + e.ordinal, e.id, e.stream, e.version, e.type, e.format, e.recorded_at, e.data::json, e.metadata::json
    FROM unnest(ids, streams, versions, types, formats, times, data, metadata) WITH ORDINALITY
        AS e (id, stream, version, type, format, recorded_at, data, metadata, ordinal);
    -- First versions cost nothing.
    IF 1 < ANY (versions) THEN
        -- A subquery a row, which no planner turns into a join over the whole log.
        IF EXISTS (
            SELECT FROM unnest(streams, versions) AS e (stream, version)
            WHERE e.version > 1 AND (
                SELECT r.version FROM log.recorded_events AS r WHERE r.stream = e.stream AND r.version = e.version - 1
            ) IS NULL
        ) THEN
            RAISE EXCEPTION 'a version would leave a gap in its stream' USING ERRCODE = 'HU002';
        END IF;
    END IF;
    SELECT i.read_models INTO inline FROM log.inline_read_models AS i ORDER BY i.number DESC LIMIT 1;
    IF inline IS DISTINCT FROM append.read_models THEN
        PERFORM log.change_inline_read_models(
            append.read_models, append.read_model_versions, tail, tail + cardinality(ids));
    END IF;
    RETURN tail + 1;
END
$$;

-- Ends that these copies are inline, and writes their positions down. Callers: whatever gives a name to other tables or drops them,
-- and whatever extends the log without log.append. Takes the log's lock if there is something to do.
CREATE FUNCTION log.leave_inline(schemas text[]) RETURNS void LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    newest log.inline_read_models;
BEGIN
    SELECT i.* INTO newest FROM log.inline_read_models AS i ORDER BY i.number DESC LIMIT 1;
    IF NOT newest.read_models && schemas THEN
        RETURN;
    END IF;
    PERFORM log.lock();
    SELECT i.* INTO newest FROM log.inline_read_models AS i ORDER BY i.number DESC LIMIT 1;
    PERFORM log.move_read_models(ARRAY(SELECT unnest(newest.read_models) INTERSECT SELECT unnest(schemas)), log.tail());
    INSERT INTO log.inline_read_models
    VALUES (newest.number + 1, ARRAY(SELECT unnest(newest.read_models) EXCEPT SELECT unnest(schemas)));
    DELETE FROM log.inline_read_models AS i WHERE i.number = newest.number;
END
$$;

-- The schema was renamed.
CREATE FUNCTION log.rename_read_model(old_name text, new_name text) RETURNS void
LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
    PERFORM log.leave_inline(ARRAY[old_name, new_name]);
    UPDATE log.read_models AS m SET schema = new_name WHERE m.schema = old_name;
END
$$;

-- A server answers from a read model as long as one of its sessions holds this lock, shared. 'humo', as bytes.
CREATE FUNCTION log.hold_served(schema text) RETURNS void LANGUAGE sql AS $$
    SELECT pg_advisory_lock_shared(x'68756d6f'::integer, hashtext(schema))
$$;

CREATE FUNCTION log.is_held(schema text) RETURNS boolean LANGUAGE sql VOLATILE AS $$
    SELECT EXISTS (
        SELECT FROM pg_locks
        WHERE locktype = 'advisory' AND classid = x'68756d6f'::integer::oid AND objid = hashtext(schema)::oid AND objsubid = 2
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND granted
    )
$$;

-- Whether a server answers from it, or may do.
CREATE FUNCTION log.is_served(name text) RETURNS boolean LANGUAGE sql VOLATILE AS $$
    SELECT log.is_held(name)
        OR EXISTS (SELECT FROM log.read_models AS m WHERE m.schema = name AND m.served_until > clock_timestamp())
$$;

-- Leases of leaders of followers and of builders of shadows, by the holder's id. The newest row of a holder counts.
CREATE TABLE log.leases (
    holder uuid NOT NULL,
    until timestamptz NOT NULL,
    PRIMARY KEY (holder, until)
);

-- As of now, not as of the statement: a session that has waited for a row's lock evaluates it again.
CREATE FUNCTION log.leased_until(of_holder uuid) RETURNS timestamptz LANGUAGE plpgsql VOLATILE SET enable_seqscan = off AS $$
BEGIN
    RETURN (SELECT max(l.until) FROM log.leases AS l WHERE l.holder = of_holder);
END
$$;

-- A lease that ends later than any lease can was given before the server's clock was set back: it is no lease any more.
CREATE FUNCTION log.is_leased(of_holder uuid, seconds double precision) RETURNS boolean
LANGUAGE sql VOLATILE AS $$
    SELECT log.leased_until(of_holder)
        BETWEEN clock_timestamp() AND clock_timestamp() + 2 * make_interval(secs => seconds)
$$;

CREATE FUNCTION log.renew_lease(of_holder uuid, seconds double precision) RETURNS void
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    before timestamptz := log.leased_until(of_holder);
BEGIN
    INSERT INTO log.leases VALUES (of_holder, clock_timestamp() + make_interval(secs => seconds)) ON CONFLICT DO NOTHING;
    IF FOUND THEN
        DELETE FROM log.leases AS l WHERE l.holder = of_holder AND l.until = before;
    END IF;
END
$$;

-- The positions of followers. The last one counts; the leader removes earlier ones.
CREATE TABLE log.follower_positions (
    follower text NOT NULL,
    position bigint NOT NULL,
    PRIMARY KEY (follower, position)
);
INSERT INTO log.follower_positions SELECT name, position FROM log.followers;
INSERT INTO log.leases SELECT leader, leased_until FROM log.followers WHERE leader IS NOT NULL AND isfinite(leased_until);
-- Written when the leader changes.
ALTER TABLE log.followers RENAME TO follower_leaders;
ALTER TABLE log.follower_leaders DROP COLUMN position, DROP COLUMN leased_until;

CREATE FUNCTION log.follower_position(name text) RETURNS bigint LANGUAGE plpgsql STABLE SET enable_seqscan = off AS $$
BEGIN
    RETURN coalesce((SELECT max(p.position) FROM log.follower_positions AS p WHERE p.follower = name), 0);
END
$$;

-- Makes the candidate the leader and returns the epoch, if no other leader's lease runs. Otherwise it returns and writes nothing.
CREATE FUNCTION log.claim_follower(follower text, candidate uuid, seconds double precision) RETURNS SETOF bigint
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    found_leader uuid;
BEGIN
    INSERT INTO log.follower_leaders (name) VALUES (claim_follower.follower) ON CONFLICT DO NOTHING;
    SELECT f.leader INTO found_leader FROM log.follower_leaders AS f WHERE f.name = claim_follower.follower;
    IF found_leader <> candidate AND log.is_leased(found_leader, seconds) THEN
        RETURN;
    END IF;
    -- Another may have been faster.
    SELECT f.leader INTO found_leader FROM log.follower_leaders AS f WHERE f.name = claim_follower.follower FOR UPDATE;
    IF found_leader <> candidate AND log.is_leased(found_leader, seconds) THEN
        RETURN;
    END IF;
    DELETE FROM log.leases AS l WHERE l.holder = found_leader;
    PERFORM log.renew_lease(candidate, seconds);
    RETURN QUERY UPDATE log.follower_leaders AS f SET epoch = f.epoch + 1, leader = candidate
        WHERE f.name = claim_follower.follower RETURNING f.epoch;
END
$$;

CREATE VIEW log.followers AS
SELECT name, log.follower_position(name) AS position, epoch, leader,
    coalesce(log.leased_until(leader), '-infinity') AS leased_until
FROM log.follower_leaders;

-- For servers of the version before: the position up to which the log is applied, which stays the one until the end of the
-- transaction. In another isolation than READ COMMITTED it is that of the snapshot, and nothing need stay.
CREATE FUNCTION log.held_position(name text) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    found_position bigint;
    is_inline boolean;
BEGIN
    SELECT p.position, p.is_inline INTO found_position, is_inline FROM log.read_model_positions(ARRAY[name]) AS p;
    IF NOT is_inline THEN
        RETURN found_position;
    END IF;
    IF current_setting('transaction_isolation') = 'read committed' THEN
        IF pg_current_xact_id_if_assigned() IS NULL THEN
            PERFORM pg_advisory_xact_lock_shared(x'0068756d6f6e01'::bigint);
        ELSIF NOT pg_try_advisory_xact_lock_shared(x'0068756d6f6e01'::bigint) THEN
            -- The transaction may hold the row's lock, for which an append waits: the server tries again soon.
            RAISE EXCEPTION 'an append is under way' USING ERRCODE = 'lock_not_available';
        END IF;
    END IF;
    RETURN (SELECT p.position FROM log.read_model_positions(ARRAY[name]) AS p);
END
$$;

CREATE VIEW log.checkpoints AS
SELECT schema, version, log.held_position(schema) AS position, built_at,
    -- One time a statement: an UPDATE of another column computes it twice.
    CASE WHEN log.is_held(schema) THEN statement_timestamp() ELSE served_at END AS served_at
FROM log.read_models;

CREATE FUNCTION log.change_checkpoint() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO log.read_models (schema, version, position) VALUES (NEW.schema, NEW.version, NEW.position);
        RETURN NEW;
    ELSIF TG_OP = 'DELETE' THEN
        DELETE FROM log.read_models AS m WHERE m.schema = OLD.schema;
        RETURN OLD;
    END IF;
    IF NEW.schema <> OLD.schema THEN
        PERFORM log.rename_read_model(OLD.schema, NEW.schema);
    END IF;
    -- Forward only, and never an inline one: an UPDATE of another column computes the position twice, and appends may come between.
    IF NEW.position > OLD.position AND NOT (SELECT p.is_inline FROM log.read_model_positions(ARRAY[NEW.schema]) AS p) THEN
        PERFORM log.move_read_models(ARRAY[NEW.schema], NEW.position);
    END IF;
    IF NEW.served_at <> OLD.served_at THEN
        UPDATE log.read_models AS m SET served_at = NEW.served_at, served_until = NEW.served_at + interval '1 minute'
        WHERE m.schema = NEW.schema;
    END IF;
    RETURN NEW;
END
$$;

CREATE TRIGGER change_checkpoint INSTEAD OF INSERT OR UPDATE OR DELETE ON log.checkpoints
    FOR EACH ROW EXECUTE FUNCTION log.change_checkpoint();

-- Here and not only in db/grants.sql, which comes a moment later: servers of the version before append meanwhile.
DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'humon_app') THEN
        GRANT SELECT, INSERT, UPDATE, DELETE ON log.read_models, log.inline_read_models, log.leases, log.follower_positions,
            log.checkpoints TO humon_app;
        GRANT SELECT ON log.followers TO humon_app;
    END IF;
END
$$;
