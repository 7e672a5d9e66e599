-- Tools have their own retention: with the tool first, neither their names nor what is old of one needs a walk over all.

DROP INDEX operations_forgettable;
CREATE INDEX operations_forgettable ON operations (tool, settled_wall)
  WHERE state IN ('done', 'refused') AND tombstone = 0;
