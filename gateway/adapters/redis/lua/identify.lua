-- Which memory is this, has it been another since anybody looked, and does it go on from the one that the caller knew?
--
-- KEYS[1]  oncegate:{:shared}:memory   hash: id, servers, before, since, schema
--          before: the servers it was on earlier, the latest 16, as words; earlier versions kept none
-- ARGV[2]  id for a memory that has none
-- ARGV[3]  the servers it is on: their replication ids, as one word
-- ARGV[4]  the id that the caller knew; empty: none
-- ARGV[5]  1: the caller has seen that what it knew is gone, though the id may still stand here
-- ARGV[6]  the schema that the caller knows; it is that of a memory that has none
-- ARGV[7]  the servers that it was on when the caller knew it; empty: the caller knew none; -: it was elsewhere meanwhile
--
-- Answers id, since (when, on the store's clock in s, it was last found to be another; 0: never) and schema. Where the
-- schema is not the caller's nothing is changed.
local NOW = now()
local KEPT = 16
local schema = redis.call('HGET', KEYS[1], 'schema') or ARGV[6]
if schema ~= ARGV[6] then
  return {ARGV[1], NOW, '', '0', schema}
end
local it = redis.call('HMGET', KEYS[1], 'id', 'servers', 'since', 'before')
local id, servers, since, before = it[1], it[2], it[3] or '0', it[4] or ''

-- Whether it was ever where the caller knew it.
local function was_there()
  return servers == ARGV[7] or string.find(' ' .. before .. ' ', ' ' .. ARGV[7] .. ' ', 1, true) ~= nil
end

if not id or (ARGV[5] == '1' and id == ARGV[4]) then
  id, servers, before = ARGV[2], ARGV[3], ''
  since = ARGV[4] ~= '' and NOW or '0'
elseif servers ~= ARGV[3] then
  -- A failover, or a start from disk: the end of what was written may be missing.
  local words = {}
  for word in string.gmatch(before .. ' ' .. (servers or ''), '%S+') do
    words[#words + 1] = word
  end
  before = table.concat(words, ' ', math.max(1, #words - KEPT + 1))
  servers, since = ARGV[3], NOW
elseif ARGV[4] ~= '' and ARGV[4] ~= id then
  -- Whoever made the new id had not known the old one.
  if since == '0' then
    since = NOW
  end
elseif ARGV[7] ~= '' and not was_there() then
  -- The caller comes from a later memory: an old master, which lacks what was written after the failover. That nothing
  -- has changed here says nothing, and neither does a `since` that is set: what is missing is the caller's.
  since = NOW
end
redis.call('HSET', KEYS[1], 'id', id, 'servers', servers, 'before', before, 'since', since, 'schema', schema)
return {ARGV[1], NOW, id, since, schema}
