-- Drop approvals, whole.
--
-- ARGV[4]  `id`: the one in ARGV[5]; `old`: those that ended at or before this wall time (s)
-- ARGV[6]  how many at most  [7] only of this tool; empty: of any
--
-- Answers how many.
local function drop(id)
  local op = P .. 'ap:' .. id
  local it = redis.call('HMGET', op, 'v', 'act')
  if not it[1] then
    return 0
  end
  if redis.call('GET', P .. 'act:' .. it[2]) == id then
    redis.call('DEL', P .. 'act:' .. it[2])
  end
  redis.call('DEL', op)
  redis.call('ZREM', P .. 'aps', id)
  redis.call('ZREM', P .. 'aplive', id)
  redis.call('ZREM', P .. 'apended', id)
  return 1
end
stamp()
if ARGV[4] == 'id' then
  return answer('ok', drop(ARGV[5]))
end
local count, offset = 0, 0
repeat
  local ids = redis.call('ZRANGEBYSCORE', P .. 'apended', '-inf', ARGV[5], 'LIMIT', offset, 64)
  for _, id in ipairs(ids) do
    if count < tonumber(ARGV[6]) and (ARGV[7] == '' or redis.call('HGET', P .. 'ap:' .. id, 'tool') == ARGV[7]) then
      count = count + drop(id)
    else
      offset = offset + 1
    end
  end
until #ids < 64 or count >= tonumber(ARGV[6])
return answer('ok', count)
