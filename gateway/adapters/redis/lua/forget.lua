-- Turn settled records into tombstones: bodies go, everything else stays.
--
-- ARGV[4]  `id`: the one of this operation id in ARGV[5]; `old`: those settled at or before this wall time (s)
-- ARGV[6]  how many at most  [7] 1: only of the tools that follow
--
-- Answers how many.
local count = 0
local function bury(key, tool)
  local op = P .. 'op:' .. key
  redis.call('HSET', op, 'x', '1')
  redis.call('HINCRBY', op, 'v', 1)
  redis.call('HDEL', op, 'b')
  local ended = redis.call('ZSCORE', P .. 'kept:' .. tool, key)
  if ended and redis.call('HGET', op, 's') == 'done' then
    local last = redis.call('HGET', P .. 'buried', tool)
    if not last or tonumber(ended) > tonumber(string.match(last, '^%S+')) then
      redis.call('HSET', P .. 'buried', tool, ended .. ' ' .. key)
    end
  end
  redis.call('ZREM', P .. 'kept:' .. tool, key)
  count = count + 1
end
stamp()
if ARGV[4] == 'id' then
  local key = redis.call('GET', P .. 'oid:' .. ARGV[5])
  local it = key and redis.call('HMGET', P .. 'op:' .. key, 's', 'x', 'tool')
  if it and it[2] ~= '1' and (it[1] == 'done' or it[1] == 'refused') then
    bury(key, it[3])
  end
  return answer('ok', count)
end
local tools = {}
if ARGV[7] == '1' then
  for i = 8, #ARGV do
    tools[#tools + 1] = ARGV[i]
  end
else
  tools = redis.call('SMEMBERS', P .. 'tools')
end
for _, tool in ipairs(tools) do
  local left = tonumber(ARGV[6]) - count
  if left > 0 then
    for _, key in ipairs(redis.call('ZRANGEBYSCORE', P .. 'kept:' .. tool, '-inf', ARGV[5], 'LIMIT', 0, left)) do
      bury(key, tool)
    end
  end
end
return answer('ok', count)
