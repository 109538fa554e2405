-- Leases of the leaders of subscriptions, by the leader's id.

-- As of now, not as of the statement: a session that has waited for a row's lock evaluates it again.
CREATE OR REPLACE FUNCTION log.leased_until(of_holder uuid) RETURNS timestamptz
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
BEGIN
    RETURN (SELECT max(l.until) FROM log.leases AS l WHERE l.holder = of_holder);
END
$$;

-- A lease that ends later than any lease can was given before the server's clock was set back: it is no lease any more.
CREATE OR REPLACE FUNCTION log.is_leased(of_holder uuid, seconds double precision) RETURNS boolean
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
    SELECT log.leased_until(of_holder)
        BETWEEN clock_timestamp() AND clock_timestamp() + 2 * make_interval(secs => seconds)
$$;

CREATE OR REPLACE FUNCTION log.renew_lease(of_holder uuid, seconds double precision) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
DECLARE
    before timestamptz := log.leased_until(of_holder);
BEGIN
    INSERT INTO log.leases VALUES (of_holder, clock_timestamp() + make_interval(secs => seconds)) ON CONFLICT DO NOTHING;
    IF FOUND THEN
        DELETE FROM log.leases AS l WHERE l.holder = of_holder AND l.until = before;
    END IF;
END
$$;
