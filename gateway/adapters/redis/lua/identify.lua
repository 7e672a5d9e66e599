-- Which memory is this, has it been another since anybody looked, and does it go on from the one that the caller knew?
--
-- KEYS[1]  oncegate:{:shared}:memory   hash: id, servers, since, schema
-- ARGV[2]  id for a memory that has none
-- ARGV[3]  the servers it is on: their replication ids, as one word
-- ARGV[4]  the id that the caller knew; empty: none
-- ARGV[5]  1: the caller has seen that what it knew is gone, though the id may still stand here
-- ARGV[6]  the schema that the caller knows; it is that of a memory that has none
-- ARGV[7]  the servers that it was on when the caller knew it; empty: the caller knew none
--
-- Answers id, since (when, on the store's clock in s, it was last found to be another; 0: never) and schema. Where the
-- schema is not the caller's nothing is changed.
local NOW = now()
local schema = redis.call('HGET', KEYS[1], 'schema') or ARGV[6]
if schema ~= ARGV[6] then
  return {ARGV[1], NOW, '', '0', schema}
end
local it = redis.call('HMGET', KEYS[1], 'id', 'servers', 'since')
local id, servers, since = it[1], it[2], it[3] or '0'
if not id or (ARGV[5] == '1' and id == ARGV[4]) then
  id, servers = ARGV[2], ARGV[3]
  since = ARGV[4] ~= '' and NOW or '0'
elseif servers ~= ARGV[3] then
  -- A failover, or a start from disk: the end of what was written may be missing.
  servers, since = ARGV[3], NOW
elseif ARGV[7] ~= '' and ARGV[7] ~= servers then
  -- The caller was elsewhere until now: on an old master that was cut off, or on a later one. That others have long noticed
  -- the change says nothing of what this caller was told there since, and neither does it that the memory was there once.
  since = NOW
elseif ARGV[4] ~= '' and ARGV[4] ~= id and since == '0' then
  -- Whoever made the new id had not known the old one.
  since = NOW
end
redis.call('HSET', KEYS[1], 'id', id, 'servers', servers, 'since', since, 'schema', schema)
return {ARGV[1], NOW, id, since, schema}
