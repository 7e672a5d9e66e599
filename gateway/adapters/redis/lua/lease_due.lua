-- Lease what needs care and is leased to nobody, longest due first.
--
-- ARGV[4]  the sweeper's token  [5] for how long, s  [6] how many at most
local limit, leased, offset = tonumber(ARGV[6]), {}, 0
while #leased < limit do
  local due = redis.call('ZRANGEBYSCORE', P .. 'due', '-inf', NOW, 'LIMIT', offset, 64)
  for _, key in ipairs(due) do
    local op = P .. 'op:' .. key
    local busy = redis.call('HGET', op, 'cu')
    if #leased < limit and not (busy and tonumber(busy) > tonumber(NOW)) then
      redis.call('HSET', op, 'ct', ARGV[4], 'cu', from_now(ARGV[5]))
      leased[#leased + 1] = record(key)
    end
  end
  if #due < 64 then
    break
  end
  offset = offset + 64
end
return answer('ok', leased)
