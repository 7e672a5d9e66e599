-- How many manifests are pinned. Every write asks whether another process has pinned one; to count them is a walk over
-- the pages of all. By a trigger: a process that opened the file before this step counts its own, too.

INSERT INTO meta (name, value) SELECT 'pins', count(*) FROM manifests;
CREATE TRIGGER manifests_pinned AFTER INSERT ON manifests
BEGIN
  UPDATE meta SET value = value + 1 WHERE name = 'pins';
END;
