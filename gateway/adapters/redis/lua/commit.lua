-- One change: applied whole, or not at all. Sent again it finds its own version and is told the record that stands
-- there, which the caller recognises: a version belongs to one writer, named in it by token and fence.
--
-- ARGV[4]  the record's key
-- ARGV[5]  the version it must have; empty: there must be none
-- ARGV[6]  do not apply at or after this (store's clock, s); empty: whenever
-- ARGV[7]  1: the record stays as it is, only rows are appended
-- ARGV[8]  version  [9] tombstone (0, 1)  [10] h  [11] m  [12] b (empty: as before)
-- ARGV[13] identity key  [14] operation id  [15] state  [16] tool  [17] subject  [18] run (may be empty)
-- ARGV[19] due: `none`, `now`, `keep`, or a time (store's clock, s)
-- ARGV[20] in doubt since (wall, s); empty: not in doubt
-- ARGV[21] settled, with bodies, since (wall, s); empty: not so
-- ARGV[22] the tool before; empty: the same
-- ARGV[23] numbers of rows  [24] of holds that nobody else may stand on  [25] of holds to take  [26] of holds to leave
-- ARGV[27…] rows, three arguments each; then the digests of those holds; then, if one moves with it, the move of an
--           approval, see approval.lua
local key, op = ARGV[4], P .. 'op:' .. ARGV[4]
local version = redis.call('HGET', op, 'v') or ''
if version ~= ARGV[5] or (ARGV[6] ~= '' and tonumber(NOW) >= tonumber(ARGV[6])) then
  return answer('stale', record(key))
end
local rows, checks, takes, leaves = tonumber(ARGV[23]), tonumber(ARGV[24]), tonumber(ARGV[25]), tonumber(ARGV[26])
local at = 27 + 3 * rows
for i = 1, checks do
  for _, holder in ipairs(redis.call('SMEMBERS', P .. 'hold:' .. ARGV[at + i - 1])) do
    if holder ~= key then
      return answer('held', i, record(holder))
    end
  end
end
local extra = at + checks + takes + leaves
if ARGV[extra] then
  local other = overtaken(extra)
  if other then
    return answer('overtaken', approval(other))
  end
end

-- From here on everything is written, and nothing of it can fail.
stamp()
append(27, rows)
if ARGV[7] == '1' then
  return answer('applied')
end
if ARGV[extra] then
  move(extra)
end
local state, tool = ARGV[15], ARGV[16]
redis.call('HSET', op, 'k', key, 'v', ARGV[8], 'x', ARGV[9], 'h', ARGV[10], 'm', ARGV[11], 's', state,
  'tool', tool, 'sub', ARGV[17], 'run', ARGV[18])
if ARGV[12] ~= '' then
  redis.call('HSET', op, 'b', ARGV[12])
end
local ended = state == 'done' or state == 'refused'
local seq
if version == '' then
  -- Microseconds of the server's clock, and more than any before: comparable between tenants, unique within one.
  local t = redis.call('TIME')
  seq = tonumber(t[1]) * 1000000 + tonumber(t[2])
  local newest = redis.call('ZREVRANGE', P .. 'ops', 0, 0, 'WITHSCORES')
  if newest[2] and tonumber(newest[2]) >= seq then
    seq = tonumber(newest[2]) + 1
  end
  seq = string.format('%.0f', seq)
  redis.call('ZADD', P .. 'ops', seq, key)
  redis.call('ZADD', P .. 'id:' .. ARGV[13], seq, key)
  redis.call('SET', P .. 'oid:' .. ARGV[14], key)
else
  seq = redis.call('ZSCORE', P .. 'ops', key)
end
if ended then
  redis.call('ZREM', P .. 'open', key)
else
  redis.call('ZADD', P .. 'open', seq, key)
end
if ARGV[22] ~= '' then
  redis.call('ZREM', P .. 'kept:' .. ARGV[22], key)
end
if ARGV[21] ~= '' then
  redis.call('ZADD', P .. 'kept:' .. tool, ARGV[21], key)
  redis.call('SADD', P .. 'tools', tool)
else
  redis.call('ZREM', P .. 'kept:' .. tool, key)
end
if ARGV[19] == 'none' then
  redis.call('ZREM', P .. 'due', key)
elseif ARGV[19] ~= 'keep' then
  redis.call('ZADD', P .. 'due', ARGV[19] == 'now' and NOW or ARGV[19], key)
end
if ARGV[20] == '' then
  redis.call('ZREM', P .. 'doubt', key)
else
  redis.call('ZADD', P .. 'doubt', ARGV[20], key)
end
at = at + checks
for i = at, at + takes - 1 do
  redis.call('SADD', P .. 'hold:' .. ARGV[i], key)
end
at = at + takes
for i = at, at + leaves - 1 do
  redis.call('SREM', P .. 'hold:' .. ARGV[i], key)
end
return answer('applied')
