-- Leaders of subscriptions.

-- Whether every event is handled or parked, and no parked stream is to be tried again.
CREATE OR REPLACE FUNCTION log.subscription_rests(of_name text, reached bigint) RETURNS boolean
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
    SELECT reached >= log.tail() AND NOT EXISTS (
        SELECT FROM log.parked_streams AS p WHERE p.subscription = of_name AND p.is_to_be_retried
    )
$$;

-- Makes the candidate the leader and returns the row, if no other leader's lease runs. Otherwise it returns and changes nothing.
--
-- The number decides between candidates, and between a candidate and a former leader, whose next step raises the same number. If that
-- step is not committed yet, the claim waits for its transaction. After its commit the row has another number, and nothing is changed: the
-- lease goes to a later claim, which finds the step's position. After its rollback the claim has the number, and the step can never
-- commit. So no step is lost, and none is done twice.
CREATE OR REPLACE FUNCTION log.claim_subscription(subscription text, candidate uuid, seconds double precision)
RETURNS SETOF log.subscriptions LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
DECLARE
    former log.subscriptions;
BEGIN
    -- Two first claims at once may leave a second row, which never counts: its number is the lowest.
    INSERT INTO log.subscriptions SELECT subscription, 0, 0, NULL
        WHERE NOT EXISTS (SELECT FROM log.subscriptions AS s WHERE s.name = subscription) ON CONFLICT DO NOTHING;
    SELECT * INTO former FROM log.subscriptions AS s WHERE s.name = subscription ORDER BY s.number DESC LIMIT 1;
    IF former.leader <> candidate AND log.is_leased(former.leader, seconds)
        -- Nobody leads where there is nothing to do: an idle server writes nothing.
        OR former.leader IS NULL AND log.subscription_rests(subscription, former.position)
    THEN
        RETURN;
    END IF;
    RETURN QUERY UPDATE log.subscriptions AS s SET number = s.number + 1, leader = candidate
        WHERE s.name = subscription AND s.number = former.number RETURNING s.*;
    IF FOUND THEN
        DELETE FROM log.leases AS l WHERE l.holder = former.leader;
        PERFORM log.renew_lease(candidate, seconds);
    END IF;
END
$$;
