-- One change: applied whole, or not at all. Sent again it finds its own version and is told the record that stands
-- there, which the caller recognises: a version belongs to one writer, named in it by token and fence. The version is
-- written once more then: a connection waits for replicas only until they have what it wrote itself.
--
-- ARGV[4]  the change, as a list in JSON: one text is cheaper to make, and to send, than twenty arguments. Times keep all
--          their digits: a number of JSON is a double, and commands get doubles with seventeen. In this order:
--            key        the record's
--            was        the version it must have; 0: there must be none
--            not_after  do not apply at or after this (store's clock, s); false: whenever
--            stays      the record stays as it is, only rows are appended
--            version, tombstone (0, 1), identity (its identity key), id (operation id), state, tool, subject, run
--                       as the record has them after it; run may be empty
--            due        `none`, `now`, `keep`, or a time (store's clock, s)
--            doubt      in doubt since (wall, s); false: not in doubt
--            settled    settled, with bodies, since (wall, s); false: not so
--            tool_was   the tool before; false: the same
--            rows       how many
--            checks     digests of holds that nobody else may stand on
--            takes      of those to take
--            leaves     of those to leave
-- ARGV[5]  h  [6] m  [7] b (empty: as before)
-- ARGV[8…] rows, three arguments each; then, if one moves with it, the move of an approval, see approval.lua
local key, was, not_after, stays, version, tombstone, identity, id, state, tool, subject, run, due, doubt, settled, tool_was,
  rows, checks, takes, leaves = unpack(cjson.decode(ARGV[4]))
if due == cjson.null or doubt == cjson.null or settled == cjson.null then
  -- JSON has no infinite times; such a change would be half written when a command refuses it.
  return redis.error_reply('a time of the change is no number')
end
local op = P .. 'op:' .. key
local found = tonumber(redis.call('HGET', op, 'v') or 0)
if found ~= was or (not_after and tonumber(NOW) >= not_after) then
  if found == version then
    redis.call('HSET', op, 'v', version)
  end
  return answer('stale', record(key))
end
for i, digest in ipairs(checks) do
  for _, holder in ipairs(redis.call('SMEMBERS', P .. 'hold:' .. digest)) do
    if holder ~= key then
      return answer('held', i, record(holder))
    end
  end
end
local extra = 8 + 3 * rows
if ARGV[extra] then
  local other = overtaken(extra)
  if other then
    return answer('overtaken', approval(other))
  end
end

-- From here on everything is written, and nothing of it can fail.
stamp()
append(8, rows)
if stays then
  return answer('applied')
end
if ARGV[extra] then
  move(extra)
end
redis.call('HSET', op, 'k', key, 'v', version, 'x', tombstone, 'h', ARGV[5], 'm', ARGV[6], 's', state,
  'tool', tool, 'sub', subject, 'run', run)
if ARGV[7] ~= '' then
  redis.call('HSET', op, 'b', ARGV[7])
end
local ended = state == 'done' or state == 'refused'
local seq
if found == 0 then
  -- Microseconds of the server's clock, and more than any before: comparable between tenants, unique within one.
  local t = redis.call('TIME')
  seq = tonumber(t[1]) * 1000000 + tonumber(t[2])
  local newest = redis.call('ZREVRANGE', P .. 'ops', 0, 0, 'WITHSCORES')
  if newest[2] and tonumber(newest[2]) >= seq then
    seq = tonumber(newest[2]) + 1
  end
  seq = string.format('%.0f', seq)
  redis.call('ZADD', P .. 'ops', seq, key)
  redis.call('ZADD', P .. 'id:' .. identity, seq, key)
  redis.call('SET', P .. 'oid:' .. id, key)
else
  seq = redis.call('ZSCORE', P .. 'ops', key)
end
if ended then
  redis.call('ZREM', P .. 'open', key)
else
  redis.call('ZADD', P .. 'open', seq, key)
end
if tool_was then
  redis.call('ZREM', P .. 'kept:' .. tool_was, key)
end
if settled then
  redis.call('ZADD', P .. 'kept:' .. tool, settled, key)
  redis.call('SADD', P .. 'tools', tool)
else
  redis.call('ZREM', P .. 'kept:' .. tool, key)
end
if due == 'none' then
  redis.call('ZREM', P .. 'due', key)
elseif due ~= 'keep' then
  redis.call('ZADD', P .. 'due', due == 'now' and NOW or due, key)
end
if doubt then
  redis.call('ZADD', P .. 'doubt', doubt, key)
else
  redis.call('ZREM', P .. 'doubt', key)
end
for _, digest in ipairs(takes) do
  redis.call('SADD', P .. 'hold:' .. digest, key)
end
for _, digest in ipairs(leaves) do
  redis.call('SREM', P .. 'hold:' .. digest, key)
end
return answer('applied')
