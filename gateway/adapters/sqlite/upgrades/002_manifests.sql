-- The manifests that kept records were made with: a changed or removed tool's open operations are settled by these.

CREATE TABLE manifests (
  digest       TEXT PRIMARY KEY,
  tool         TEXT NOT NULL,
  operation    TEXT NOT NULL,
  revision     INTEGER NOT NULL,
  pinned_wall  REAL NOT NULL,
  canonical    BLOB NOT NULL            -- JSON; secrets are only named in it
) WITHOUT ROWID;
