"""Records as stores keep them where others could read: encoded, and sealed when a key is given."""
