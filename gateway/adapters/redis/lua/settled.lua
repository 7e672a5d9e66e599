-- Done records of one tool that have their bodies, the latest settled first; then its tombstone that was settled last.
--
-- ARGV[4]  tool  [5] settled at or after this (wall, s)  [6] how many at most
local source, limit = P .. 'kept:' .. ARGV[4], tonumber(ARGV[6])
local found, offset, last = {}, 0, nil
repeat
  local keys = redis.call('ZREVRANGEBYSCORE', source, '+inf', ARGV[5], 'WITHSCORES', 'LIMIT', offset, 64)
  for i = 1, #keys, 2 do
    -- Those settled at the same time as the last one are all looked at: which of them is the latest is told below.
    if #found >= limit and keys[i + 1] ~= last then
      keys = {}
      break
    end
    if redis.call('HGET', P .. 'op:' .. keys[i], 's') == 'done' then
      last = keys[i + 1]
      found[#found + 1] = {tonumber(last), tonumber(redis.call('ZSCORE', P .. 'ops', keys[i])), keys[i]}
    end
  end
  offset = offset + 64
until #keys < 128
table.sort(found, function(a, b)
  if a[1] ~= b[1] then
    return a[1] > b[1]
  end
  return a[2] > b[2]
end)
local records = {}
for i = 1, math.min(limit, #found) do
  records[i] = record(found[i][3])
end
local buried = redis.call('HGET', P .. 'buried', ARGV[4])
local ended, key = string.match(buried or '', '^(%S+) (%S+)$')
if ended and tonumber(ended) >= tonumber(ARGV[5]) then
  records[#records + 1] = record(key)
end
return answer('ok', records)
