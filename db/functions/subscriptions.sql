-- Leaders and positions of subscriptions.

CREATE OR REPLACE FUNCTION log.subscription_position(name text) RETURNS bigint LANGUAGE plpgsql STABLE SET enable_seqscan = off AS $$
BEGIN
    RETURN coalesce((SELECT max(p.position) FROM log.subscription_positions AS p WHERE p.subscription = subscription_position.name), 0);
END
$$;

-- Makes the candidate the leader and returns the epoch, if no other leader's lease runs. Otherwise it returns and writes nothing.
CREATE OR REPLACE FUNCTION log.claim_subscription(subscription text, candidate uuid, seconds double precision) RETURNS SETOF bigint
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    found_leader uuid;
BEGIN
    INSERT INTO log.subscription_leaders (name) VALUES (claim_subscription.subscription) ON CONFLICT DO NOTHING;
    SELECT f.leader INTO found_leader FROM log.subscription_leaders AS f WHERE f.name = claim_subscription.subscription;
    IF found_leader <> candidate AND log.is_leased(found_leader, seconds) THEN
        RETURN;
    END IF;
    -- Another may have been faster.
    SELECT f.leader INTO found_leader FROM log.subscription_leaders AS f WHERE f.name = claim_subscription.subscription FOR UPDATE;
    IF found_leader <> candidate AND log.is_leased(found_leader, seconds) THEN
        RETURN;
    END IF;
    DELETE FROM log.leases AS l WHERE l.holder = found_leader;
    PERFORM log.renew_lease(candidate, seconds);
    RETURN QUERY UPDATE log.subscription_leaders AS f SET epoch = f.epoch + 1, leader = candidate
        WHERE f.name = claim_subscription.subscription RETURNING f.epoch;
END
$$;
