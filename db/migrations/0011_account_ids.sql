-- The numbers that accounts and tasks get.
CREATE SEQUENCE log.account_ids;
CREATE SEQUENCE log.task_ids;
