-- Rowid tables: records are some 500 bytes wide and their keys random, which a WITHOUT ROWID tree pays for in page
-- splits. Times *_until, *_at are seconds since boot; *_wall are seconds since 1970 UTC.

CREATE TABLE operations (
  rowid         INTEGER PRIMARY KEY,    -- rises with every record: newest first is rowid descending
  key           TEXT NOT NULL UNIQUE,
  identity_key  TEXT NOT NULL,
  occurrence    INTEGER NOT NULL,
  operation_id  TEXT NOT NULL UNIQUE,
  tenant        TEXT NOT NULL,
  tool          TEXT NOT NULL,
  subject       TEXT NOT NULL,
  run_id        TEXT,
  state         TEXT NOT NULL,
  version       INTEGER NOT NULL,
  lease_until   REAL NOT NULL,
  lease_s       REAL NOT NULL,          -- how long the lease was when granted: what another boot grants again
  due_at        REAL,                   -- owned: the lease's end; unknown: the next look; otherwise null
  care_token    TEXT,                   -- the sweeper that reconciles it
  care_until    REAL NOT NULL DEFAULT 0,
  doubt_wall    REAL,                   -- while in doubt: when the oldest unknown attempt was sent
  created_wall  REAL NOT NULL,
  settled_wall  REAL,
  tombstone     INTEGER NOT NULL DEFAULT 0,
  machine       BLOB NOT NULL,          -- JSON: what the machine alone reads
  bodies        BLOB                    -- sealed: arguments, request, baseline, result, holds; null in a tombstone
);
CREATE INDEX operations_by_identity ON operations (identity_key);
CREATE INDEX operations_by_tool ON operations (tenant, tool);
CREATE INDEX operations_by_run ON operations (run_id) WHERE run_id IS NOT NULL;
CREATE INDEX operations_due ON operations (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX operations_unsettled ON operations (state) WHERE state NOT IN ('done', 'refused');
CREATE INDEX operations_forgettable ON operations (settled_wall) WHERE state IN ('done', 'refused') AND tombstone = 0;

-- Who stands on what. `digest` is an HMAC of tenant, name and value: the value itself is sealed in the record.
CREATE TABLE holds (
  digest  BLOB NOT NULL,
  key     TEXT NOT NULL,
  PRIMARY KEY (digest, key)
) WITHOUT ROWID;

CREATE TABLE rows (
  rowid    INTEGER PRIMARY KEY,
  row_id   TEXT NOT NULL UNIQUE,
  tenant   TEXT NOT NULL,
  subject  TEXT NOT NULL,
  run_id   TEXT,
  tool     TEXT NOT NULL,
  code     TEXT,
  at_wall  REAL NOT NULL,
  body     BLOB NOT NULL                -- JSON: the whole row
);
CREATE INDEX rows_by_tenant ON rows (tenant);
CREATE INDEX rows_by_run ON rows (run_id) WHERE run_id IS NOT NULL;
CREATE INDEX rows_by_time ON rows (at_wall);
