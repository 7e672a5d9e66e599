-- One change: applied whole, or not at all. Sent again it finds its own version and is told the record that stands
-- there, which the caller recognises: a version belongs to one writer, named in it by token and fence.
--
-- ARGV[4]  the change, as JSON: one text is cheaper to make, and to send, than thirty arguments. Times keep all their
--          digits: a number of JSON is a double, and commands get doubles with seventeen
--            key        the record's
--            was        the version it must have; 0: there must be none
--            not_after  do not apply at or after this (store's clock, s); false: whenever
--            stays      the record stays as it is, only rows are appended
--            version, tombstone (0, 1), identity (its identity key), operation (its id), state, tool, subject,
--            run        as the record has them after it; run may be empty
--            due        `none`, `now`, `keep`, or a time (store's clock, s)
--            doubt      in doubt since (wall, s); false: not in doubt
--            settled    settled, with bodies, since (wall, s); false: not so
--            tool_was   the tool before; false: the same
--            rows       how many
--            checks     digests of holds that nobody else may stand on; takes, leaves: of those to take, and to leave
-- ARGV[5]  h  [6] m  [7] b (empty: as before)
-- ARGV[8…] rows, three arguments each; then, if one moves with it, the move of an approval, see approval.lua
local change = cjson.decode(ARGV[4])
if change.due == cjson.null or change.doubt == cjson.null or change.settled == cjson.null then
  -- JSON has no infinite times; such a change would be half written when a command refuses it.
  return redis.error_reply('a time of the change is no number')
end
local key = change.key
local op = P .. 'op:' .. key
local version = tonumber(redis.call('HGET', op, 'v') or 0)
if version ~= change.was or (change.not_after and tonumber(NOW) >= change.not_after) then
  return answer('stale', record(key))
end
for i, digest in ipairs(change.checks) do
  for _, holder in ipairs(redis.call('SMEMBERS', P .. 'hold:' .. digest)) do
    if holder ~= key then
      return answer('held', i, record(holder))
    end
  end
end
local extra = 8 + 3 * change.rows
if ARGV[extra] then
  local other = overtaken(extra)
  if other then
    return answer('overtaken', approval(other))
  end
end

-- From here on everything is written, and nothing of it can fail.
stamp()
append(8, change.rows)
if change.stays then
  return answer('applied')
end
if ARGV[extra] then
  move(extra)
end
local state, tool = change.state, change.tool
redis.call('HSET', op, 'k', key, 'v', change.version, 'x', change.tombstone, 'h', ARGV[5], 'm', ARGV[6], 's', state,
  'tool', tool, 'sub', change.subject, 'run', change.run)
if ARGV[7] ~= '' then
  redis.call('HSET', op, 'b', ARGV[7])
end
local ended = state == 'done' or state == 'refused'
local seq
if version == 0 then
  -- Microseconds of the server's clock, and more than any before: comparable between tenants, unique within one.
  local t = redis.call('TIME')
  seq = tonumber(t[1]) * 1000000 + tonumber(t[2])
  local newest = redis.call('ZREVRANGE', P .. 'ops', 0, 0, 'WITHSCORES')
  if newest[2] and tonumber(newest[2]) >= seq then
    seq = tonumber(newest[2]) + 1
  end
  seq = string.format('%.0f', seq)
  redis.call('ZADD', P .. 'ops', seq, key)
  redis.call('ZADD', P .. 'id:' .. change.identity, seq, key)
  redis.call('SET', P .. 'oid:' .. change.operation, key)
else
  seq = redis.call('ZSCORE', P .. 'ops', key)
end
if ended then
  redis.call('ZREM', P .. 'open', key)
else
  redis.call('ZADD', P .. 'open', seq, key)
end
if change.tool_was then
  redis.call('ZREM', P .. 'kept:' .. change.tool_was, key)
end
if change.settled then
  redis.call('ZADD', P .. 'kept:' .. tool, change.settled, key)
  redis.call('SADD', P .. 'tools', tool)
else
  redis.call('ZREM', P .. 'kept:' .. tool, key)
end
if change.due == 'none' then
  redis.call('ZREM', P .. 'due', key)
elseif change.due ~= 'keep' then
  redis.call('ZADD', P .. 'due', change.due == 'now' and NOW or change.due, key)
end
if change.doubt then
  redis.call('ZADD', P .. 'doubt', change.doubt, key)
else
  redis.call('ZREM', P .. 'doubt', key)
end
for _, digest in ipairs(change.takes) do
  redis.call('SADD', P .. 'hold:' .. digest, key)
end
for _, digest in ipairs(change.leaves) do
  redis.call('SREM', P .. 'hold:' .. digest, key)
end
return answer('applied')
