-- Fills an empty, migrated database with a valid log, by psql as the owner of the database: the variable `total` says how many recorded
-- events. Every user signs up, creates two events, changes the first of them, and 6 users attend the two, so 10 recorded events belong to
-- a user. The token of user 7 is device-of-user-7: shorter ones need the pepper of the database. Ids are in the order of time, as humon
-- makes them. `humon log verify` accepts the log, and a rebuild makes the read models. The table benchmark.cities has the columns number
-- (from 0), lat and lon.
\set ON_ERROR_STOP on

-- Positions 1 to 10 are sign-ups, so that the first events have enough guests.
CREATE OR REPLACE PROCEDURE benchmark.fill(first bigint, last bigint) LANGUAGE sql AS $$
    INSERT INTO log.recorded_events (position, id, stream, version, type, format, recorded_at, data, metadata, personal)
    SELECT p, id::uuid, stream, version, type, 1, recorded_at, data::json, metadata::json, personal::json
    FROM generate_series(first, last) AS p
    CROSS JOIN LATERAL (
        SELECT greatest(p - 11, 0) / 10 AS block, CASE WHEN p <= 10 THEN 0 ELSE (p - 11) % 10 END AS step,
            timestamptz '2026-01-01Z' + p * interval '200 milliseconds' AS recorded_at
    ) AS of_position
    CROSS JOIN LATERAL (
        SELECT CASE WHEN p <= 10 THEN p ELSE block + 11 END AS author, 2 * block + CASE WHEN step IN (1, 3, 4, 5, 6) THEN 1 ELSE 2 END AS event,
            1 + (block * 7919 + step) % (block + 11) AS guest
    ) AS numbers
    CROSS JOIN LATERAL (
        -- UUID version 7: milliseconds since 1970, version, 12 random bits, variant, 60 random bits.
        SELECT lpad(to_hex(1767225600000 + p * 200), 12, '0') || '7' || left(request, 3) || 'a'
            || right(request, 15) AS id, request
        FROM md5(p::text) AS request
    ) AS ids
    JOIN benchmark.cities AS city ON city.number = (block * 31 + step) % (SELECT count(*) FROM benchmark.cities)
    CROSS JOIN LATERAL (
        SELECT CASE step WHEN 0 THEN author WHEN 1 THEN author WHEN 2 THEN author WHEN 3 THEN author ELSE guest END AS actor,
            CASE WHEN step = 0 THEN 'user-' || author WHEN step <= 3 THEN 'event-' || event ELSE 'attendance-' || event || '-' || guest END AS stream,
            CASE step WHEN 3 THEN 2 ELSE 1 END AS version,
            CASE step WHEN 0 THEN 'UserCreated' WHEN 1 THEN 'EventCreated' WHEN 2 THEN 'EventCreated' WHEN 3 THEN 'EventUpdated'
                ELSE 'AttendanceAdded' END AS type,
            CASE
            WHEN step = 0 THEN '{}'
            WHEN step <= 3 THEN CASE WHEN step < 3 THEN '{"owner":' || author || ',' ELSE '{' END
                || '"started_at":"' || to_char(recorded_at AT TIME ZONE 'UTC' + interval '14 days', 'YYYY-MM-DD"T"HH24:00:00.000"Z"')
                || '","ended_at":null}'
            ELSE '{"event":' || event || ',"user":' || guest || '}'
            END AS data,
            CASE
            WHEN step = 0 THEN '{"device":"' || encode(sha256(('device-of-user-' || author)::bytea), 'hex') || '"}'
            WHEN step <= 3 THEN '{"name":"Neighbourhood dinner ' || event % 1000 || '","address":"' || event % 200 || ' Market Street, City ' || city.number
                || '","lat":' || round((city.lat + (random() + random() + random() - 1.5) * 0.1) * 1e6) / 1e6
                || ',"lon":' || round((city.lon + (random() + random() + random() - 1.5) * 0.1) * 1e6) / 1e6
                || '}'
            ELSE '{}'
            END AS personal
    ) AS contents
    CROSS JOIN LATERAL (
        SELECT '{"request_id":"' || request::uuid || '","actor":' || actor || ',"trace_id":null}' AS metadata
    ) AS envelope
$$;
