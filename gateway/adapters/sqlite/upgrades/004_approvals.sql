-- Approvals: what a person may allow, once, until it lapses. Times are seconds since 1970 UTC.

CREATE TABLE approvals (
  rowid         INTEGER PRIMARY KEY,    -- rises with every approval: newest first is rowid descending
  approval_id   TEXT NOT NULL UNIQUE,
  tenant        TEXT NOT NULL,
  action_hash   TEXT NOT NULL,
  subject       TEXT NOT NULL,
  approvers     TEXT NOT NULL,          -- the permission of whoever decides
  run_id        TEXT,
  tool          TEXT NOT NULL,
  operation_id  TEXT,                   -- what it is reserved for, or was spent on
  status        TEXT NOT NULL,
  version       INTEGER NOT NULL,
  expires_wall  REAL NOT NULL,
  ended_wall    REAL,
  head          BLOB NOT NULL,          -- JSON: the whole approval but for what is sealed
  sealed        BLOB NOT NULL           -- arguments, reasons, decision
);
CREATE UNIQUE INDEX approvals_live ON approvals (tenant, action_hash)
  WHERE status IN ('pending', 'approved', 'reserved');
CREATE INDEX approvals_by_action ON approvals (tenant, action_hash);
CREATE INDEX approvals_by_operation ON approvals (operation_id) WHERE operation_id IS NOT NULL;
CREATE INDEX approvals_lapsing ON approvals (expires_wall) WHERE status IN ('pending', 'approved', 'reserved');
CREATE INDEX approvals_ended ON approvals (ended_wall) WHERE ended_wall IS NOT NULL;
