-- Recorded events as CloudEvents, for the archive and for the Merkle tree over the log. docs/decisions/0060-transparency.md

-- The object with the envelope, without its end.
CREATE OR REPLACE FUNCTION log.cloud_event(e log.recorded_events, log_id uuid) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT format(
        '{"specversion":"1.0","id":"%s","source":"/log/%s","type":%s,"subject":%s,"time":"%s","position":%s,"streamversion":%s,"format":%s%s',
        e.id, log_id, to_json(e.type), to_json(e.stream),
        to_char(e.recorded_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), e.position, e.version, e.format,
        ',"personalsha256":"' || encode(e.personal_digest, 'hex') || '"')
$$;

-- Entries of the tree behind a position: the envelope and digests of the content. An erasure changes nothing in them. The form never
-- changes, because every leaf depends on it.
CREATE OR REPLACE FUNCTION log.entries(behind bigint, number bigint) RETURNS TABLE ("position" bigint, entry text)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
BEGIN
    RETURN QUERY SELECT e.position, log.cloud_event(e, (SELECT f.id FROM log.recorded_events AS f WHERE f.position = 1)) || format(
        ',"factssha256":"%s","metadatasha256":"%s"}', encode(sha256(convert_to(e.data::text, 'UTF8')), 'hex'),
        encode(sha256(convert_to(e.metadata::text, 'UTF8')), 'hex'))
    FROM log.recorded_events AS e WHERE e.position > behind AND e.position <= behind + number ORDER BY e.position;
END
$$;

-- Keeps tiles that have changed, and the checkpoint of the tree. The application has no other right to write them.
CREATE OR REPLACE FUNCTION log.keep_tree(levels smallint[], indexes bigint[], hashes bytea[], size bigint, note text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    INSERT INTO log.tiles AS t SELECT * FROM unnest(levels, indexes, hashes)
        ON CONFLICT (level, index) DO UPDATE SET hashes = excluded.hashes;
    INSERT INTO log.tree_checkpoints AS c VALUES (keep_tree.size, keep_tree.note)
        ON CONFLICT ON CONSTRAINT tree_checkpoints_pkey DO UPDATE SET note = excluded.note;
    DELETE FROM log.tree_checkpoints AS c WHERE c.size < keep_tree.size;
END
$$;
