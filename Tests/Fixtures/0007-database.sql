-- A database that humon of commit 9c791e8 filled, with the migrations 0001 to 0007, as pg_dump 15 --inserts wrote it: 5 users,
-- 12 events, 4 changes, 36 attendances, commands with and without a key, a follower with a parked stream. All of it is made up.
-- UpgradeTests restores it. It is never made anew: what an old program wrote is to be read by every later one.
DO $$ BEGIN CREATE ROLE humon_app NOLOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$;
DO $$ BEGIN CREATE ROLE humon_reader NOLOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$;

--
-- PostgreSQL database dump
--


-- Dumped from database version 15.18 (Debian 15.18-0+deb12u1)
-- Dumped by pg_dump version 15.18 (Debian 15.18-0+deb12u1)

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

--
-- Name: attendances_v1; Type: SCHEMA; Schema: -; Owner: humon_app
--

CREATE SCHEMA attendances_v1;


ALTER SCHEMA attendances_v1 OWNER TO humon_app;

--
-- Name: events_v1; Type: SCHEMA; Schema: -; Owner: humon_app
--

CREATE SCHEMA events_v1;


ALTER SCHEMA events_v1 OWNER TO humon_app;

--
-- Name: humon; Type: SCHEMA; Schema: -; Owner: humon
--

CREATE SCHEMA humon;


ALTER SCHEMA humon OWNER TO humon;

--
-- Name: log; Type: SCHEMA; Schema: -; Owner: humon
--

CREATE SCHEMA log;


ALTER SCHEMA log OWNER TO humon;

--
-- Name: users_v1; Type: SCHEMA; Schema: -; Owner: humon_app
--

CREATE SCHEMA users_v1;


ALTER SCHEMA users_v1 OWNER TO humon_app;

--
-- Name: append(uuid[], text[], integer[], text[], smallint[], timestamp with time zone[], text[], text[], text[], integer[]); Type: FUNCTION; Schema: log; Owner: humon
--

CREATE FUNCTION log.append(ids uuid[], streams text[], versions integer[], types text[], formats smallint[], times timestamp with time zone[], data text[], metadata text[], read_models text[], read_model_versions integer[]) RETURNS bigint
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
DECLARE
    tail bigint;
    moved integer;
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
    IF cardinality(read_models) > 0 THEN
        UPDATE log.checkpoints AS c SET position = tail + cardinality(ids)
        FROM unnest(read_models, read_model_versions) AS m (schema, version)
        WHERE c.schema = m.schema AND c.version = m.version AND c.position = tail;
        GET DIAGNOSTICS moved = ROW_COUNT;
        IF moved <> cardinality(read_models) THEN
            RAISE EXCEPTION 'a read model is missing, behind the log, or of another version'
                USING ERRCODE = 'HU001', HINT = 'run: humon projections rebuild';
        END IF;
    END IF;
    RETURN tail + 1;
END
$$;


ALTER FUNCTION log.append(ids uuid[], streams text[], versions integer[], types text[], formats smallint[], times timestamp with time zone[], data text[], metadata text[], read_models text[], read_model_versions integer[]) OWNER TO humon;

--
-- Name: lock(); Type: FUNCTION; Schema: log; Owner: humon
--

CREATE FUNCTION log.lock() RETURNS void
    LANGUAGE sql
    AS $$
    SELECT pg_advisory_xact_lock(x'0068756d6f6e01'::bigint)
$$;


ALTER FUNCTION log.lock() OWNER TO humon;

--
-- Name: outcomes(uuid[]); Type: FUNCTION; Schema: log; Owner: humon
--

CREATE FUNCTION log.outcomes(ids uuid[]) RETURNS TABLE(id uuid, fingerprint bytea, "position" bigint, stream text, version integer)
    LANGUAGE plpgsql STABLE
    SET enable_seqscan TO 'off'
    AS $$
BEGIN
    RETURN QUERY SELECT c.id, c.fingerprint, r.position, c.stream, c.version
    FROM unnest(ids) AS wanted (id)
    CROSS JOIN LATERAL (SELECT * FROM log.commands AS k WHERE k.id = wanted.id LIMIT 1) AS c
    CROSS JOIN LATERAL (
        SELECT e.position FROM log.recorded_events AS e WHERE e.stream = c.stream AND e.version = c.version LIMIT 1
    ) AS r;
END
$$;


ALTER FUNCTION log.outcomes(ids uuid[]) OWNER TO humon;

--
-- Name: recorded(uuid[]); Type: FUNCTION; Schema: log; Owner: humon
--

CREATE FUNCTION log.recorded(ids uuid[]) RETURNS TABLE(id uuid, "position" bigint, stream text, version integer)
    LANGUAGE plpgsql STABLE
    SET enable_seqscan TO 'off'
    AS $$
BEGIN
    RETURN QUERY SELECT r.id, r.position, r.stream, r.version
    FROM unnest(ids) AS wanted (id)
    CROSS JOIN LATERAL (SELECT * FROM log.recorded_events AS e WHERE e.id = wanted.id LIMIT 1) AS r;
END
$$;


ALTER FUNCTION log.recorded(ids uuid[]) OWNER TO humon;

--
-- Name: refuse_change(); Type: FUNCTION; Schema: log; Owner: humon
--

CREATE FUNCTION log.refuse_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    RAISE EXCEPTION '%.% is append-only: % is refused', TG_TABLE_SCHEMA, TG_TABLE_NAME, TG_OP
        USING ERRCODE = 'insufficient_privilege';
END
$$;


ALTER FUNCTION log.refuse_change() OWNER TO humon;

--
-- Name: tail(); Type: FUNCTION; Schema: log; Owner: humon
--

CREATE FUNCTION log.tail() RETURNS bigint
    LANGUAGE plpgsql STABLE
    SET enable_seqscan TO 'off'
    AS $$
BEGIN
    RETURN (SELECT coalesce(max(position), 0) FROM log.recorded_events);
END
$$;


ALTER FUNCTION log.tail() OWNER TO humon;

--
-- Name: versions(text[]); Type: FUNCTION; Schema: log; Owner: humon
--

CREATE FUNCTION log.versions(streams text[]) RETURNS TABLE(stream text, version integer)
    LANGUAGE plpgsql STABLE
    SET enable_seqscan TO 'off'
    AS $$
BEGIN
    RETURN QUERY SELECT wanted.stream, r.version
    FROM unnest(streams) AS wanted (stream)
    CROSS JOIN LATERAL (
        SELECT e.version FROM log.recorded_events AS e WHERE e.stream = wanted.stream ORDER BY e.version DESC LIMIT 1
    ) AS r;
END
$$;


ALTER FUNCTION log.versions(streams text[]) OWNER TO humon;

SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: attendances; Type: TABLE; Schema: attendances_v1; Owner: humon_app
--

CREATE TABLE attendances_v1.attendances (
    event_id bigint NOT NULL,
    user_id bigint NOT NULL
);


ALTER TABLE attendances_v1.attendances OWNER TO humon_app;

--
-- Name: events; Type: TABLE; Schema: events_v1; Owner: humon_app
--

CREATE TABLE events_v1.events (
    id bigint NOT NULL,
    version integer NOT NULL,
    owner_id bigint NOT NULL,
    name text NOT NULL,
    address text,
    lat double precision NOT NULL,
    lon double precision NOT NULL,
    started_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    band smallint NOT NULL,
    x double precision NOT NULL,
    y double precision NOT NULL,
    z double precision NOT NULL
);


ALTER TABLE events_v1.events OWNER TO humon_app;

--
-- Name: migrations; Type: TABLE; Schema: humon; Owner: humon
--

CREATE TABLE humon.migrations (
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL
);


ALTER TABLE humon.migrations OWNER TO humon;

--
-- Name: checkpoints; Type: TABLE; Schema: log; Owner: humon
--

CREATE TABLE log.checkpoints (
    schema text NOT NULL,
    version integer NOT NULL,
    "position" bigint NOT NULL,
    built_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    served_at timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL
);


ALTER TABLE log.checkpoints OWNER TO humon;

--
-- Name: commands; Type: TABLE; Schema: log; Owner: humon
--

CREATE TABLE log.commands (
    id uuid NOT NULL,
    fingerprint bytea NOT NULL,
    stream text NOT NULL COLLATE pg_catalog."C",
    version integer NOT NULL,
    CONSTRAINT commands_fingerprint_check CHECK ((length(fingerprint) = 32))
);


ALTER TABLE log.commands OWNER TO humon;

--
-- Name: event_ids; Type: SEQUENCE; Schema: log; Owner: humon
--

CREATE SEQUENCE log.event_ids
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


ALTER TABLE log.event_ids OWNER TO humon;

--
-- Name: followers; Type: TABLE; Schema: log; Owner: humon
--

CREATE TABLE log.followers (
    name text NOT NULL,
    "position" bigint DEFAULT 0 NOT NULL,
    epoch bigint DEFAULT 0 NOT NULL,
    leader uuid,
    leased_until timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL
);


ALTER TABLE log.followers OWNER TO humon;

--
-- Name: parked_streams; Type: TABLE; Schema: log; Owner: humon
--

CREATE TABLE log.parked_streams (
    follower text NOT NULL,
    stream text NOT NULL COLLATE pg_catalog."C",
    version integer NOT NULL,
    "position" bigint NOT NULL,
    reason text NOT NULL,
    parked_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    is_to_be_retried boolean DEFAULT false NOT NULL
);


ALTER TABLE log.parked_streams OWNER TO humon;

--
-- Name: recorded_events; Type: TABLE; Schema: log; Owner: humon
--

CREATE TABLE log.recorded_events (
    "position" bigint NOT NULL,
    id uuid NOT NULL,
    stream text NOT NULL COLLATE pg_catalog."C",
    version integer NOT NULL,
    type text NOT NULL,
    format smallint NOT NULL,
    recorded_at timestamp with time zone NOT NULL,
    data json NOT NULL,
    metadata json NOT NULL,
    CONSTRAINT recorded_events_format_check CHECK ((format > 0)),
    CONSTRAINT recorded_events_position_check CHECK (("position" > 0)),
    CONSTRAINT recorded_events_version_check CHECK ((version > 0))
);


ALTER TABLE log.recorded_events OWNER TO humon;

--
-- Name: shadows; Type: TABLE; Schema: log; Owner: humon
--

CREATE TABLE log.shadows (
    schema text NOT NULL,
    builder uuid NOT NULL,
    leased_until timestamp with time zone NOT NULL,
    began_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    resumed_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    resumed_from bigint DEFAULT 0 NOT NULL,
    has_indexes boolean DEFAULT false NOT NULL,
    is_to_be_aborted boolean DEFAULT false NOT NULL
);


ALTER TABLE log.shadows OWNER TO humon;

--
-- Name: user_ids; Type: SEQUENCE; Schema: log; Owner: humon
--

CREATE SEQUENCE log.user_ids
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


ALTER TABLE log.user_ids OWNER TO humon;

--
-- Name: users; Type: TABLE; Schema: users_v1; Owner: humon_app
--

CREATE TABLE users_v1.users (
    id bigint NOT NULL,
    device bytea NOT NULL
);


ALTER TABLE users_v1.users OWNER TO humon_app;

--
-- Data for Name: attendances; Type: TABLE DATA; Schema: attendances_v1; Owner: humon_app
--

INSERT INTO attendances_v1.attendances VALUES
	(1, 1),
	(1, 4),
	(1, 5),
	(2, 1),
	(2, 4),
	(2, 5),
	(3, 1),
	(3, 4),
	(3, 5),
	(4, 1),
	(4, 4),
	(4, 5),
	(5, 1),
	(5, 4),
	(5, 5),
	(6, 1),
	(6, 4),
	(6, 5),
	(7, 1),
	(7, 4),
	(7, 5),
	(8, 1),
	(8, 4),
	(8, 5),
	(9, 1),
	(9, 4),
	(9, 5),
	(10, 1),
	(10, 4),
	(10, 5),
	(11, 1),
	(11, 4),
	(11, 5),
	(12, 1),
	(12, 4),
	(12, 5);


--
-- Data for Name: events; Type: TABLE DATA; Schema: events_v1; Owner: humon_app
--

INSERT INTO events_v1.events VALUES
	(1, 1, 2, 'Gathering 1 – ‘ü’', 'Market Square 1', -38.25, -150.5, '2013-09-11 01:00:00.123+00', NULL, -765, -0.6835050639100969, -0.3867085589138249, -0.619093949309834),
	(3, 1, 1, 'Gathering 3 – ‘ü’', 'Market Square 3', -24.25, -92.5, '2013-09-13 03:00:00.123+00', '2013-09-30 00:00:00+00', -485, -0.03977050176379929, -0.9108942481415306, -0.41071885261347724),
	(4, 1, 2, 'Gathering 4 – ‘ü’', NULL, -17.25, -63.5, '2013-09-14 04:00:00.123+00', NULL, -345, 0.42612781069304767, -0.8546801643099938, -0.29654157497557093),
	(6, 1, 1, 'Gathering 6 – ‘ü’', NULL, -3.25, -5.5, '2013-09-16 06:00:00.123+00', '2013-09-30 00:00:00+00', -65, 0.9937952733542418, -0.09569160097449264, -0.05669278756337751),
	(7, 1, 2, 'Gathering 7 – ‘ü’', 'Market Square 7', 4.25, 24.5, '2013-09-17 07:00:00.123+00', NULL, 85, 0.9074590458149959, 0.4135529129984403, 0.07410849019539924),
	(9, 1, 1, 'Gathering 9 – ‘ü’', 'Market Square 9', 18.25, 82.5, '2013-09-19 09:00:00.123+00', '2013-09-30 00:00:00+00', 365, 0.12396061069784135, 0.9415743185240488, 0.31316380648374953),
	(10, 1, 2, 'Gathering 10 – ‘ü’', NULL, 25.25, 111.5, '2013-09-10 00:00:00.123+00', NULL, 505, -0.3314839203261285, 0.8415209567824814, 0.4265687399014583),
	(11, 1, 3, 'Gathering 11 – ‘ü’', 'Market Square 11', 32.25, 140.5, '2013-09-11 01:00:00.123+00', NULL, 645, -0.6525843780817322, 0.5379490476688537, 0.5336145159156115),
	(12, 1, 1, 'Gathering 12 – ‘ü’', NULL, 39.25, 169.5, '2013-09-12 02:00:00.123+00', '2013-09-30 00:00:00+00', 785, -0.7614253676752358, 0.14112185043157083, 0.6327053285625159),
	(5, 2, 3, 'Moved gathering 5', NULL, 5.5, 5.75, '2014-01-01 00:00:00+00', NULL, 110, 0.9903878805619826, 0.09972681565043741, 0.09584575252022398),
	(8, 2, 3, 'Moved gathering 8', NULL, 8.5, 8.75, '2014-01-01 00:00:00+00', NULL, 170, 0.9775052125889605, 0.15045244213015876, 0.14780941112961063),
	(2, 3, 3, 'Moved again', NULL, -89.999, 180, '2014-01-02 00:00:00+00', NULL, -1800, -1.7453292519072936e-05, 2.1374118818065117e-21, -0.9999999998476913);


--
-- Data for Name: migrations; Type: TABLE DATA; Schema: humon; Owner: humon
--

INSERT INTO humon.migrations VALUES
	('0001_log', 'af75b9f6b332f8df3e7bf78b1d94cddd404aa5970fb98322a4a0d8bd1d9befc1', '2026-11-22 19:10:55.914095+00'),
	('0002_ids', 'dccd81ec1d6ab6d7e6e5eab5c36400bc722a2d0b4761289edd593f8e704aff1f', '2026-11-22 19:10:55.948394+00'),
	('0003_commands', '9a6f58e1183fa5b6c4abef57157b1f2e218b02fcec1eefb7a59744809a3286bb', '2026-11-22 19:10:55.952208+00'),
	('0004_followers', '71389c6010e8fea6da5ea7ea3ad969046865c5f7a64b7c11cdbbb4475a2ca455', '2026-11-22 19:10:55.966059+00'),
	('0005_append', '2cfa578ba5ce19e137ef9cb6567a4e33c3392bb8e957eda07920de3a76209c16', '2026-11-22 19:10:55.984022+00'),
	('0006_read_models', '99bd3ed84c2db675395450c2cd313cff760a01da9b6bc615e3566a4e7b0b9ee8', '2026-11-22 19:10:55.987259+00'),
	('0007_search', 'd1005cfa6ea0b5d50b5c780ba366f08b40d227ee6260b557f24f6ac18555ae14', '2026-11-22 19:10:56.010529+00');


--
-- Data for Name: checkpoints; Type: TABLE DATA; Schema: log; Owner: humon
--

INSERT INTO log.checkpoints VALUES
	('users_v1', 1, 57, '2026-11-22 19:10:56.058057+00', '2026-11-22 19:10:56.612327+00'),
	('events_v1', 1, 57, '2026-11-22 19:10:56.064712+00', '2026-11-22 19:10:56.618725+00'),
	('attendances_v1', 1, 57, '2026-11-22 19:10:56.066784+00', '2026-11-22 19:10:56.626152+00');


--
-- Data for Name: commands; Type: TABLE DATA; Schema: log; Owner: humon
--

INSERT INTO log.commands VALUES
	('e857cf3b-a33a-8c4b-9de3-2a0b6731c28a', '\x5ff9d5038c453bb4ba75a21e2bce467fcd5eb002fbc2c17a80e3c6d7bde9b62d', 'event-4', 1),
	('2130dd70-6d5c-81c6-90ae-81b2e610eee9', '\xdc3f3a6a4570ce448486e53fc15ff32857adf930e3c366eab947574bb839d678', 'event-8', 1),
	('31c25f7f-8700-8124-bee1-b2cc5c046ac6', '\x0215523d20a51b5134e72de6b4d39574fca47cf9483124b0b32e27c69b18ddeb', 'event-12', 1),
	('5b3abd36-c6fd-8496-a235-6f1420b73473', '\x7b40f67e6dc49655142e8eb3a22517a20d9e00049d7c55897a2d7b8260907c96', 'event-2', 2),
	('351b7e6a-618a-8744-a7f6-7862fa8cd998', '\xc5112a5268fddc7a5a47f25e62c37f721f3ce014abe6e26925805e36c010244f', 'event-5', 2),
	('18623b4d-fa95-8b18-9e15-0e2a31467d98', '\xdf75702d4d230762dac104a845036b0f3ec164dab307662368d0f715aae553bf', 'event-8', 2);


--
-- Data for Name: followers; Type: TABLE DATA; Schema: log; Owner: humon
--

INSERT INTO log.followers VALUES
	('newsletter', 20, 3, NULL, '-infinity');


--
-- Data for Name: parked_streams; Type: TABLE DATA; Schema: log; Owner: humon
--

INSERT INTO log.parked_streams VALUES
	('newsletter', 'event-2', 1, 7, 'no such address', '2013-09-16 00:00:00+00', false);


--
-- Data for Name: recorded_events; Type: TABLE DATA; Schema: log; Owner: humon
--

INSERT INTO log.recorded_events VALUES
	(1, '215bd57c-a5a4-84d7-ab81-e805ee51b863', 'user-1', 1, 'UserCreated', 1, '2026-11-22 19:10:56.766+00', '{"device":"03204de92e11fc8c528139be419065920eb83dbff1a4663bbea455aa6e9702bd"}', '{"request_id":"95ed9dc1d302136b9001f9ed6367e198","actor":1,"trace_id":null}'),
	(2, '7c642faf-4999-8efe-b83c-fcdb644442b0', 'user-2', 1, 'UserCreated', 1, '2026-11-22 19:10:56.799+00', '{"device":"588605bf5362e8b7f170c8b2926c4061ab09a7d95c74c6ff9b45140b6787e0de"}', '{"request_id":"95ed9dc1d302136b9001f9ed6367e199","actor":2,"trace_id":null}'),
	(3, '7cd23803-0dfd-865b-bc22-abbbfd14b9b4', 'user-3', 1, 'UserCreated', 1, '2026-11-22 19:10:56.815+00', '{"device":"048e7ef65d968dd7f273eca282f8e346b9ad4b63b3fc7fe13407c89fd2261049"}', '{"request_id":"95ed9dc1d302136b9001f9ed6367e19a","actor":3,"trace_id":null}'),
	(4, 'c3711e6e-b6be-8af1-b90f-c4414a7cadfc', 'user-4', 1, 'UserCreated', 1, '2026-11-22 19:10:56.837+00', '{"device":"6967765e90c7a486f93f03b7f43173d26f2499d63f93a0bba84f8992a73f3ca8"}', '{"request_id":"95ed9dc1d302136b9001f9ed6367e19b","actor":4,"trace_id":null}'),
	(5, 'b4713f46-b664-8f5a-a1d3-34ef29241c2a', 'user-5', 1, 'UserCreated', 1, '2026-11-22 19:10:56.864+00', '{"device":"b4a6ee2735299815f102eca57a5cb4e7750bfd1866781d87f34bc07b581cd3d5"}', '{"request_id":"95ed9dc1d302136b9001f9ed6367e19c","actor":5,"trace_id":null}'),
	(6, '01a204ab-2d85-7004-a03b-6f4bd935ad2f', 'event-1', 1, 'EventCreated', 1, '2026-11-22 19:10:56.902+00', '{"owner":2,"name":"Gathering 1 – ‘ü’","address":"Market Square 1","lat":-38.25,"lon":-150.5,"started_at":"2013-09-11T01:00:00.123Z","ended_at":null}', '{"request_id":"95ed9dc1d302136b9001f9ed6367e19d","actor":2,"trace_id":null}'),
	(7, '01a204ab-2da6-7af3-acae-cd01bbac83a3', 'event-2', 1, 'EventCreated', 1, '2026-11-22 19:10:56.934+00', '{"owner":3,"name":"Gathering 2 – ‘ü’","address":null,"lat":-31.25,"lon":-121.5,"started_at":"2013-09-12T02:00:00.123Z","ended_at":null}', '{"request_id":"95ed9dc1d302136b9001f9ed6367e19e","actor":3,"trace_id":null}'),
	(8, '01a204ab-2dca-7975-ae0f-eb2d91993180', 'event-3', 1, 'EventCreated', 1, '2026-11-22 19:10:56.97+00', '{"owner":1,"name":"Gathering 3 – ‘ü’","address":"Market Square 3","lat":-24.25,"lon":-92.5,"started_at":"2013-09-13T03:00:00.123Z","ended_at":"2013-09-30T00:00:00.000Z"}', '{"request_id":"95ed9dc1d302136b9001f9ed6367e19f","actor":1,"trace_id":null}'),
	(9, 'e857cf3b-a33a-8c4b-9de3-2a0b6731c28a', 'event-4', 1, 'EventCreated', 1, '2026-11-22 19:10:56.999+00', '{"owner":2,"name":"Gathering 4 – ‘ü’","address":null,"lat":-17.25,"lon":-63.5,"started_at":"2013-09-14T04:00:00.123Z","ended_at":null}', '{"request_id":"95ed9dc1d302136b9001f9ed6367e1a0","actor":2,"trace_id":null}'),
	(10, '01a204ab-2e0b-7e43-82da-a3032ab483bf', 'event-5', 1, 'EventCreated', 1, '2026-11-22 19:10:57.035+00', '{"owner":3,"name":"Gathering 5 – ‘ü’","address":"Market Square 5","lat":-10.25,"lon":-34.5,"started_at":"2013-09-15T05:00:00.123Z","ended_at":null}', '{"request_id":"95ed9dc1d302136b9001f9ed6367e1a1","actor":3,"trace_id":null}'),
	(11, '01a204ab-2e2b-76a2-9b49-9883bec6e04a', 'event-6', 1, 'EventCreated', 1, '2026-11-22 19:10:57.067+00', '{"owner":1,"name":"Gathering 6 – ‘ü’","address":null,"lat":-3.25,"lon":-5.5,"started_at":"2013-09-16T06:00:00.123Z","ended_at":"2013-09-30T00:00:00.000Z"}', '{"request_id":"95ed9dc1d302136b9001f9ed6367e1a2","actor":1,"trace_id":null}'),
	(12, '01a204ab-2e47-7ae3-b74f-2dc668fd780f', 'event-7', 1, 'EventCreated', 1, '2026-11-22 19:10:57.095+00', '{"owner":2,"name":"Gathering 7 – ‘ü’","address":"Market Square 7","lat":4.25,"lon":24.5,"started_at":"2013-09-17T07:00:00.123Z","ended_at":null}', '{"request_id":"95ed9dc1d302136b9001f9ed6367e1a3","actor":2,"trace_id":null}'),
	(13, '2130dd70-6d5c-81c6-90ae-81b2e610eee9', 'event-8', 1, 'EventCreated', 1, '2026-11-22 19:10:57.13+00', '{"owner":3,"name":"Gathering 8 – ‘ü’","address":null,"lat":11.25,"lon":53.5,"started_at":"2013-09-18T08:00:00.123Z","ended_at":null}', '{"request_id":"95ed9dc1d302136b9001f9ed6367e1a4","actor":3,"trace_id":null}'),
	(14, '01a204ab-2e7f-70b8-b83d-d8eee603c93f', 'event-9', 1, 'EventCreated', 1, '2026-11-22 19:10:57.151+00', '{"owner":1,"name":"Gathering 9 – ‘ü’","address":"Market Square 9","lat":18.25,"lon":82.5,"started_at":"2013-09-19T09:00:00.123Z","ended_at":"2013-09-30T00:00:00.000Z"}', '{"request_id":"95ed9dc1d302136b9001f9ed6367e1a5","actor":1,"trace_id":null}'),
	(15, '01a204ab-2e96-74a7-8c9f-73e52b1cf818', 'event-10', 1, 'EventCreated', 1, '2026-11-22 19:10:57.174+00', '{"owner":2,"name":"Gathering 10 – ‘ü’","address":null,"lat":25.25,"lon":111.5,"started_at":"2013-09-10T00:00:00.123Z","ended_at":null}', '{"request_id":"95ed9dc1d302136b9001f9ed6367e1a6","actor":2,"trace_id":null}'),
	(16, '01a204ab-2eb4-7e26-8a22-36465aebfddf', 'event-11', 1, 'EventCreated', 1, '2026-11-22 19:10:57.204+00', '{"owner":3,"name":"Gathering 11 – ‘ü’","address":"Market Square 11","lat":32.25,"lon":140.5,"started_at":"2013-09-11T01:00:00.123Z","ended_at":null}', '{"request_id":"95ed9dc1d302136b9001f9ed6367e1a7","actor":3,"trace_id":null}'),
	(17, '31c25f7f-8700-8124-bee1-b2cc5c046ac6', 'event-12', 1, 'EventCreated', 1, '2026-11-22 19:10:57.231+00', '{"owner":1,"name":"Gathering 12 – ‘ü’","address":null,"lat":39.25,"lon":169.5,"started_at":"2013-09-12T02:00:00.123Z","ended_at":"2013-09-30T00:00:00.000Z"}', '{"request_id":"95ed9dc1d302136b9001f9ed6367e1a8","actor":1,"trace_id":null}'),
	(18, '5b3abd36-c6fd-8496-a235-6f1420b73473', 'event-2', 2, 'EventUpdated', 1, '2026-11-22 19:10:57.255+00', '{"name":"Moved gathering 2","address":null,"lat":2.5,"lon":2.75,"started_at":"2014-01-01T00:00:00.000Z","ended_at":null}', '{"request_id":"95ed9dc1d302136b9001f9ed6367e1a9","actor":3,"trace_id":null}'),
	(19, '351b7e6a-618a-8744-a7f6-7862fa8cd998', 'event-5', 2, 'EventUpdated', 1, '2026-11-22 19:10:57.282+00', '{"name":"Moved gathering 5","address":null,"lat":5.5,"lon":5.75,"started_at":"2014-01-01T00:00:00.000Z","ended_at":null}', '{"request_id":"95ed9dc1d302136b9001f9ed6367e1aa","actor":3,"trace_id":null}'),
	(20, '18623b4d-fa95-8b18-9e15-0e2a31467d98', 'event-8', 2, 'EventUpdated', 1, '2026-11-22 19:10:57.315+00', '{"name":"Moved gathering 8","address":null,"lat":8.5,"lon":8.75,"started_at":"2014-01-01T00:00:00.000Z","ended_at":null}', '{"request_id":"95ed9dc1d302136b9001f9ed6367e1ab","actor":3,"trace_id":null}'),
	(21, '01a204ab-2f42-7600-893a-9b3af041d0f8', 'event-2', 3, 'EventUpdated', 1, '2026-11-22 19:10:57.346+00', '{"name":"Moved again","address":null,"lat":-89.999,"lon":180.0,"started_at":"2014-01-02T00:00:00.000Z","ended_at":null}', '{"request_id":"95ed9dc1d302136b9001f9ed6367e1ac","actor":3,"trace_id":null}'),
	(22, 'bb2facc9-dddd-83e3-a22b-562880462a4b', 'attendance-1-1', 1, 'AttendanceAdded', 1, '2026-11-22 19:10:57.39+00', '{"event":1,"user":1}', '{"request_id":"95ed9dc1d302136b9001f9ed6367e1ad","actor":1,"trace_id":null}'),
	(23, '6fe43510-cfb9-863e-901e-d0ef64891efb', 'attendance-1-4', 1, 'AttendanceAdded', 1, '2026-11-22 19:10:57.417+00', '{"event":1,"user":4}', '{"request_id":"95ed9dc1d302136b9001f9ed6367e1ae","actor":4,"trace_id":null}'),
	(24, '042041de-5f65-808d-b9f1-987555bed344', 'attendance-1-5', 1, 'AttendanceAdded', 1, '2026-11-22 19:10:57.453+00', '{"event":1,"user":5}', '{"request_id":"95ed9dc1d302136b9001f9ed6367e1af","actor":5,"trace_id":null}'),
	(25, '00c04215-17fe-829d-bf31-8d61ee05ebad', 'attendance-2-1', 1, 'AttendanceAdded', 1, '2026-11-22 19:10:57.473+00', '{"event":2,"user":1}', '{"request_id":"95ed9dc1d302136b9001f9ed6367e1b0","actor":1,"trace_id":null}'),
	(26, '1f94010c-0e54-873f-b753-9a5165664eb2', 'attendance-2-4', 1, 'AttendanceAdded', 1, '2026-11-22 19:10:57.498+00', '{"event":2,"user":4}', '{"request_id":"95ed9dc1d302136b9001f9ed6367e1b1","actor":4,"trace_id":null}'),
	(27, '3737c52b-7728-8b4c-85ce-6b8f08c9eb44', 'attendance-2-5', 1, 'AttendanceAdded', 1, '2026-11-22 19:10:57.529+00', '{"event":2,"user":5}', '{"request_id":"95ed9dc1d302136b9001f9ed6367e1b2","actor":5,"trace_id":null}'),
	(28, 'dfbc358b-a3e2-813e-b9b8-1667a9986b92', 'attendance-3-1', 1, 'AttendanceAdded', 1, '2026-11-22 19:10:57.558+00', '{"event":3,"user":1}', '{"request_id":"95ed9dc1d302136b9001f9ed6367e1b3","actor":1,"trace_id":null}'),
	(29, '37d41a8c-93f4-869c-b295-76975adbbd3d', 'attendance-3-4', 1, 'AttendanceAdded', 1, '2026-11-22 19:10:57.584+00', '{"event":3,"user":4}', '{"request_id":"95ed9dc1d302136b9001f9ed6367e1b4","actor":4,"trace_id":null}'),
	(30, '2a0d8b1e-b9a3-859e-a460-5cdb3d1488db', 'attendance-3-5', 1, 'AttendanceAdded', 1, '2026-11-22 19:10:57.606+00', '{"event":3,"user":5}', '{"request_id":"95ed9dc1d302136b9001f9ed6367e1b5","actor":5,"trace_id":null}'),
	(31, '14eb878f-beae-8b06-94f4-d367b68d7c09', 'attendance-4-1', 1, 'AttendanceAdded', 1, '2026-11-22 19:10:57.625+00', '{"event":4,"user":1}', '{"request_id":"95ed9dc1d302136b9001f9ed6367e1b6","actor":1,"trace_id":null}'),
	(32, '4e80174a-535a-868d-9bb4-2d1b409b09ef', 'attendance-4-4', 1, 'AttendanceAdded', 1, '2026-11-22 19:10:57.651+00', '{"event":4,"user":4}', '{"request_id":"95ed9dc1d302136b9001f9ed6367e1b7","actor":4,"trace_id":null}'),
	(33, 'd1988bad-bbdf-8f66-a631-cf848378ca80', 'attendance-4-5', 1, 'AttendanceAdded', 1, '2026-11-22 19:10:57.681+00', '{"event":4,"user":5}', '{"request_id":"95ed9dc1d302136b9001f9ed6367e1b8","actor":5,"trace_id":null}'),
	(34, 'de91beb5-440e-85de-9335-4e6796cb08c8', 'attendance-5-1', 1, 'AttendanceAdded', 1, '2026-11-22 19:10:57.711+00', '{"event":5,"user":1}', '{"request_id":"95ed9dc1d302136b9001f9ed6367e1b9","actor":1,"trace_id":null}'),
	(35, '609d9a26-8ed2-8ad9-b18f-32b6a89d6a64', 'attendance-5-4', 1, 'AttendanceAdded', 1, '2026-11-22 19:10:57.745+00', '{"event":5,"user":4}', '{"request_id":"95ed9dc1d302136b9001f9ed6367e1ba","actor":4,"trace_id":null}'),
	(36, '5ad5ee61-c2cd-88d3-b9ee-2be96986a0f0', 'attendance-5-5', 1, 'AttendanceAdded', 1, '2026-11-22 19:10:57.77+00', '{"event":5,"user":5}', '{"request_id":"95ed9dc1d302136b9001f9ed6367e1bb","actor":5,"trace_id":null}'),
	(37, '765c9da1-6472-811b-bbe0-8aa70cb61e65', 'attendance-6-1', 1, 'AttendanceAdded', 1, '2026-11-22 19:10:57.789+00', '{"event":6,"user":1}', '{"request_id":"95ed9dc1d302136b9001f9ed6367e1bc","actor":1,"trace_id":null}'),
	(38, '15136119-bb0f-8526-b996-0ffbcf2203ff', 'attendance-6-4', 1, 'AttendanceAdded', 1, '2026-11-22 19:10:57.81+00', '{"event":6,"user":4}', '{"request_id":"95ed9dc1d302136b9001f9ed6367e1bd","actor":4,"trace_id":null}'),
	(39, '73f85928-4fc2-84d8-8e85-98499afaaec9', 'attendance-6-5', 1, 'AttendanceAdded', 1, '2026-11-22 19:10:57.838+00', '{"event":6,"user":5}', '{"request_id":"95ed9dc1d302136b9001f9ed6367e1be","actor":5,"trace_id":null}'),
	(40, '1008fe34-ef5f-8981-a52e-2c105f2278ce', 'attendance-7-1', 1, 'AttendanceAdded', 1, '2026-11-22 19:10:57.858+00', '{"event":7,"user":1}', '{"request_id":"95ed9dc1d302136b9001f9ed6367e1bf","actor":1,"trace_id":null}'),
	(41, '01338aca-cba8-83e8-b944-c347551d8d85', 'attendance-7-4', 1, 'AttendanceAdded', 1, '2026-11-22 19:10:57.885+00', '{"event":7,"user":4}', '{"request_id":"95ed9dc1d302136b9001f9ed6367e1c0","actor":4,"trace_id":null}'),
	(42, '2583bafa-3935-86c3-b9f1-b2605604f621', 'attendance-7-5', 1, 'AttendanceAdded', 1, '2026-11-22 19:10:57.907+00', '{"event":7,"user":5}', '{"request_id":"95ed9dc1d302136b9001f9ed6367e1c1","actor":5,"trace_id":null}'),
	(43, '22674392-0ff4-8f3a-8cb1-ad2039d15c2d', 'attendance-8-1', 1, 'AttendanceAdded', 1, '2026-11-22 19:10:57.928+00', '{"event":8,"user":1}', '{"request_id":"95ed9dc1d302136b9001f9ed6367e1c2","actor":1,"trace_id":null}'),
	(44, '8728bd9b-83d2-8389-8bc9-d63cb97c4c90', 'attendance-8-4', 1, 'AttendanceAdded', 1, '2026-11-22 19:10:57.953+00', '{"event":8,"user":4}', '{"request_id":"95ed9dc1d302136b9001f9ed6367e1c3","actor":4,"trace_id":null}'),
	(45, '43af5ea5-51cc-852e-bd4f-e7becc83168e', 'attendance-8-5', 1, 'AttendanceAdded', 1, '2026-11-22 19:10:57.987+00', '{"event":8,"user":5}', '{"request_id":"95ed9dc1d302136b9001f9ed6367e1c4","actor":5,"trace_id":null}'),
	(46, '8f6ce525-a214-836d-924e-b2aaf3d76096', 'attendance-9-1', 1, 'AttendanceAdded', 1, '2026-11-22 19:10:58.013+00', '{"event":9,"user":1}', '{"request_id":"95ed9dc1d302136b9001f9ed6367e1c5","actor":1,"trace_id":null}'),
	(47, '53e33906-945f-88b9-bf3f-2b2065cf91ae', 'attendance-9-4', 1, 'AttendanceAdded', 1, '2026-11-22 19:10:58.027+00', '{"event":9,"user":4}', '{"request_id":"95ed9dc1d302136b9001f9ed6367e1c6","actor":4,"trace_id":null}'),
	(48, '1065483a-4347-8556-866e-c3f9615da4a0', 'attendance-9-5', 1, 'AttendanceAdded', 1, '2026-11-22 19:10:58.056+00', '{"event":9,"user":5}', '{"request_id":"95ed9dc1d302136b9001f9ed6367e1c7","actor":5,"trace_id":null}'),
	(49, 'b18ef254-fdc9-81c6-a4c8-835073a31716', 'attendance-10-1', 1, 'AttendanceAdded', 1, '2026-11-22 19:10:58.075+00', '{"event":10,"user":1}', '{"request_id":"95ed9dc1d302136b9001f9ed6367e1c8","actor":1,"trace_id":null}'),
	(50, 'f4e8d78d-59b3-886e-97cf-90f9d69302ba', 'attendance-10-4', 1, 'AttendanceAdded', 1, '2026-11-22 19:10:58.091+00', '{"event":10,"user":4}', '{"request_id":"95ed9dc1d302136b9001f9ed6367e1c9","actor":4,"trace_id":null}'),
	(51, '991b228e-430e-82a9-b335-57a7bec0ee4b', 'attendance-10-5', 1, 'AttendanceAdded', 1, '2026-11-22 19:10:58.115+00', '{"event":10,"user":5}', '{"request_id":"95ed9dc1d302136b9001f9ed6367e1ca","actor":5,"trace_id":null}'),
	(52, '677b652f-e4dd-8c75-a8b1-c4d7ff1dfb98', 'attendance-11-1', 1, 'AttendanceAdded', 1, '2026-11-22 19:10:58.143+00', '{"event":11,"user":1}', '{"request_id":"95ed9dc1d302136b9001f9ed6367e1cb","actor":1,"trace_id":null}'),
	(53, '0238cd56-87c7-86f3-b7be-aa7b3dd4e635', 'attendance-11-4', 1, 'AttendanceAdded', 1, '2026-11-22 19:10:58.163+00', '{"event":11,"user":4}', '{"request_id":"95ed9dc1d302136b9001f9ed6367e1cc","actor":4,"trace_id":null}'),
	(54, '38149c8e-a794-8fa0-8ad0-4cbd4995c87d', 'attendance-11-5', 1, 'AttendanceAdded', 1, '2026-11-22 19:10:58.177+00', '{"event":11,"user":5}', '{"request_id":"95ed9dc1d302136b9001f9ed6367e1cd","actor":5,"trace_id":null}'),
	(55, '27ad58c1-ce02-8087-9e91-6e84fabe1dbf', 'attendance-12-1', 1, 'AttendanceAdded', 1, '2026-11-22 19:10:58.195+00', '{"event":12,"user":1}', '{"request_id":"95ed9dc1d302136b9001f9ed6367e1ce","actor":1,"trace_id":null}'),
	(56, '92547657-06db-8c62-b00a-84ca06f1a56f', 'attendance-12-4', 1, 'AttendanceAdded', 1, '2026-11-22 19:10:58.218+00', '{"event":12,"user":4}', '{"request_id":"95ed9dc1d302136b9001f9ed6367e1cf","actor":4,"trace_id":null}'),
	(57, '3117ac7c-8103-89b6-bc65-5c68963a831a', 'attendance-12-5', 1, 'AttendanceAdded', 1, '2026-11-22 19:10:58.241+00', '{"event":12,"user":5}', '{"request_id":"95ed9dc1d302136b9001f9ed6367e1d0","actor":5,"trace_id":null}');


--
-- Data for Name: shadows; Type: TABLE DATA; Schema: log; Owner: humon
--



--
-- Data for Name: users; Type: TABLE DATA; Schema: users_v1; Owner: humon_app
--

INSERT INTO users_v1.users VALUES
	(1, '\x03204de92e11fc8c528139be419065920eb83dbff1a4663bbea455aa6e9702bd'),
	(2, '\x588605bf5362e8b7f170c8b2926c4061ab09a7d95c74c6ff9b45140b6787e0de'),
	(3, '\x048e7ef65d968dd7f273eca282f8e346b9ad4b63b3fc7fe13407c89fd2261049'),
	(4, '\x6967765e90c7a486f93f03b7f43173d26f2499d63f93a0bba84f8992a73f3ca8'),
	(5, '\xb4a6ee2735299815f102eca57a5cb4e7750bfd1866781d87f34bc07b581cd3d5');


--
-- Name: event_ids; Type: SEQUENCE SET; Schema: log; Owner: humon
--

SELECT pg_catalog.setval('log.event_ids', 12, true);


--
-- Name: user_ids; Type: SEQUENCE SET; Schema: log; Owner: humon
--

SELECT pg_catalog.setval('log.user_ids', 5, true);


--
-- Name: attendances attendances_pkey; Type: CONSTRAINT; Schema: attendances_v1; Owner: humon_app
--

ALTER TABLE ONLY attendances_v1.attendances
    ADD CONSTRAINT attendances_pkey PRIMARY KEY (event_id, user_id);


--
-- Name: events events_pkey; Type: CONSTRAINT; Schema: events_v1; Owner: humon_app
--

ALTER TABLE ONLY events_v1.events
    ADD CONSTRAINT events_pkey PRIMARY KEY (id);


--
-- Name: migrations migrations_pkey; Type: CONSTRAINT; Schema: humon; Owner: humon
--

ALTER TABLE ONLY humon.migrations
    ADD CONSTRAINT migrations_pkey PRIMARY KEY (name);


--
-- Name: checkpoints checkpoints_pkey; Type: CONSTRAINT; Schema: log; Owner: humon
--

ALTER TABLE ONLY log.checkpoints
    ADD CONSTRAINT checkpoints_pkey PRIMARY KEY (schema);


--
-- Name: commands commands_pkey; Type: CONSTRAINT; Schema: log; Owner: humon
--

ALTER TABLE ONLY log.commands
    ADD CONSTRAINT commands_pkey PRIMARY KEY (id);


--
-- Name: followers followers_pkey; Type: CONSTRAINT; Schema: log; Owner: humon
--

ALTER TABLE ONLY log.followers
    ADD CONSTRAINT followers_pkey PRIMARY KEY (name);


--
-- Name: parked_streams parked_streams_pkey; Type: CONSTRAINT; Schema: log; Owner: humon
--

ALTER TABLE ONLY log.parked_streams
    ADD CONSTRAINT parked_streams_pkey PRIMARY KEY (follower, stream);


--
-- Name: recorded_events recorded_events_id; Type: CONSTRAINT; Schema: log; Owner: humon
--

ALTER TABLE ONLY log.recorded_events
    ADD CONSTRAINT recorded_events_id UNIQUE (id);


--
-- Name: recorded_events recorded_events_pkey; Type: CONSTRAINT; Schema: log; Owner: humon
--

ALTER TABLE ONLY log.recorded_events
    ADD CONSTRAINT recorded_events_pkey PRIMARY KEY ("position");


--
-- Name: recorded_events recorded_events_stream_version; Type: CONSTRAINT; Schema: log; Owner: humon
--

ALTER TABLE ONLY log.recorded_events
    ADD CONSTRAINT recorded_events_stream_version UNIQUE (stream, version);


--
-- Name: shadows shadows_pkey; Type: CONSTRAINT; Schema: log; Owner: humon
--

ALTER TABLE ONLY log.shadows
    ADD CONSTRAINT shadows_pkey PRIMARY KEY (schema);


--
-- Name: users users_device; Type: CONSTRAINT; Schema: users_v1; Owner: humon_app
--

ALTER TABLE ONLY users_v1.users
    ADD CONSTRAINT users_device UNIQUE (device);


--
-- Name: users users_pkey; Type: CONSTRAINT; Schema: users_v1; Owner: humon_app
--

ALTER TABLE ONLY users_v1.users
    ADD CONSTRAINT users_pkey PRIMARY KEY (id);


--
-- Name: events_near; Type: INDEX; Schema: events_v1; Owner: humon_app
--

CREATE INDEX events_near ON events_v1.events USING btree (band, lon);


--
-- Name: recorded_events_search; Type: INDEX; Schema: log; Owner: humon
--

CREATE INDEX recorded_events_search ON log.recorded_events USING brin ((("position" + 0)), recorded_at, type text_bloom_ops (n_distinct_per_range='64'), split_part(stream, '-'::text, 1) text_bloom_ops (n_distinct_per_range='64'), ((metadata ->> 'request_id'::text)) text_bloom_ops (n_distinct_per_range='800'), ((metadata ->> 'trace_id'::text)) text_bloom_ops (n_distinct_per_range='800'), ((metadata ->> 'actor'::text)) text_bloom_ops (n_distinct_per_range='800')) WITH (pages_per_range='32', autosummarize='on');


--
-- Name: commands refuse_change; Type: TRIGGER; Schema: log; Owner: humon
--

CREATE TRIGGER refuse_change BEFORE DELETE OR UPDATE OR TRUNCATE ON log.commands FOR EACH STATEMENT EXECUTE FUNCTION log.refuse_change();

ALTER TABLE log.commands ENABLE ALWAYS TRIGGER refuse_change;


--
-- Name: recorded_events refuse_change; Type: TRIGGER; Schema: log; Owner: humon
--

CREATE TRIGGER refuse_change BEFORE DELETE OR UPDATE OR TRUNCATE ON log.recorded_events FOR EACH STATEMENT EXECUTE FUNCTION log.refuse_change();

ALTER TABLE log.recorded_events ENABLE ALWAYS TRIGGER refuse_change;


--
-- Name: parked_streams parked_streams_subscription_fkey; Type: FK CONSTRAINT; Schema: log; Owner: humon
--

ALTER TABLE ONLY log.parked_streams
    ADD CONSTRAINT parked_streams_subscription_fkey FOREIGN KEY (follower) REFERENCES log.followers(name);


--
-- Name: SCHEMA attendances_v1; Type: ACL; Schema: -; Owner: humon_app
--

GRANT USAGE ON SCHEMA attendances_v1 TO humon_reader;


--
-- Name: SCHEMA events_v1; Type: ACL; Schema: -; Owner: humon_app
--

GRANT USAGE ON SCHEMA events_v1 TO humon_reader;


--
-- Name: SCHEMA humon; Type: ACL; Schema: -; Owner: humon
--

GRANT USAGE ON SCHEMA humon TO humon_app;
GRANT USAGE ON SCHEMA humon TO humon_reader;


--
-- Name: SCHEMA log; Type: ACL; Schema: -; Owner: humon
--

GRANT USAGE ON SCHEMA log TO humon_app;
GRANT USAGE ON SCHEMA log TO humon_reader;


--
-- Name: SCHEMA users_v1; Type: ACL; Schema: -; Owner: humon_app
--

GRANT USAGE ON SCHEMA users_v1 TO humon_reader;


--
-- Name: TABLE attendances; Type: ACL; Schema: attendances_v1; Owner: humon_app
--

GRANT SELECT ON TABLE attendances_v1.attendances TO humon_reader;


--
-- Name: TABLE events; Type: ACL; Schema: events_v1; Owner: humon_app
--

GRANT SELECT ON TABLE events_v1.events TO humon_reader;


--
-- Name: TABLE migrations; Type: ACL; Schema: humon; Owner: humon
--

GRANT SELECT ON TABLE humon.migrations TO humon_app;
GRANT SELECT ON TABLE humon.migrations TO humon_reader;


--
-- Name: TABLE checkpoints; Type: ACL; Schema: log; Owner: humon
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE log.checkpoints TO humon_app;
GRANT SELECT ON TABLE log.checkpoints TO humon_reader;


--
-- Name: TABLE commands; Type: ACL; Schema: log; Owner: humon
--

GRANT SELECT,INSERT ON TABLE log.commands TO humon_app;
GRANT SELECT ON TABLE log.commands TO humon_reader;


--
-- Name: SEQUENCE event_ids; Type: ACL; Schema: log; Owner: humon
--

GRANT SELECT,USAGE ON SEQUENCE log.event_ids TO humon_app;
GRANT SELECT ON SEQUENCE log.event_ids TO humon_reader;


--
-- Name: TABLE followers; Type: ACL; Schema: log; Owner: humon
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE log.followers TO humon_app;
GRANT SELECT ON TABLE log.followers TO humon_reader;


--
-- Name: TABLE parked_streams; Type: ACL; Schema: log; Owner: humon
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE log.parked_streams TO humon_app;
GRANT SELECT ON TABLE log.parked_streams TO humon_reader;


--
-- Name: TABLE recorded_events; Type: ACL; Schema: log; Owner: humon
--

GRANT SELECT,INSERT ON TABLE log.recorded_events TO humon_app;
GRANT SELECT ON TABLE log.recorded_events TO humon_reader;


--
-- Name: TABLE shadows; Type: ACL; Schema: log; Owner: humon
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE log.shadows TO humon_app;
GRANT SELECT ON TABLE log.shadows TO humon_reader;


--
-- Name: SEQUENCE user_ids; Type: ACL; Schema: log; Owner: humon
--

GRANT SELECT,USAGE ON SEQUENCE log.user_ids TO humon_app;
GRANT SELECT ON SEQUENCE log.user_ids TO humon_reader;


--
-- Name: TABLE users; Type: ACL; Schema: users_v1; Owner: humon_app
--

GRANT SELECT ON TABLE users_v1.users TO humon_reader;


--
-- PostgreSQL database dump complete
--


