-- The numbers that users and events get. They must outlive every rebuild, so they are no read model's.
CREATE SEQUENCE log.user_ids;
CREATE SEQUENCE log.event_ids;
