-- Who follows the log, how far they are, and who leads them.
CREATE TABLE log.followers (
    name text PRIMARY KEY,
    -- Everything up to here is handled, or parked.
    position bigint NOT NULL DEFAULT 0,
    -- Counts the leaders, so that a former one can be told from the present one.
    epoch bigint NOT NULL DEFAULT 0,
    leader uuid,
    -- By this server's clock alone; nodes need not agree on the time.
    leased_until timestamptz NOT NULL DEFAULT '-infinity'
);

-- Streams that a follower cannot go on with, from the first recorded event that it did not handle.
CREATE TABLE log.parked_streams (
    follower text NOT NULL REFERENCES log.followers,
    stream text COLLATE "C" NOT NULL,
    version integer NOT NULL,
    position bigint NOT NULL,
    reason text NOT NULL,
    parked_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- Somebody mended the cause: the leader is to try again.
    is_to_be_retried boolean NOT NULL DEFAULT false,
    PRIMARY KEY (follower, stream)
);
