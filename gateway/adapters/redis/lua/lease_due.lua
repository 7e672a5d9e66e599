-- Lease what needs care and is leased to nobody, longest due first, then oldest first.
--
-- ARGV[4]  the sweeper's token  [5] for how long, s  [6] how many at most
local limit, found, offset, last = tonumber(ARGV[6]), {}, 0, nil
repeat
  local due = redis.call('ZRANGEBYSCORE', P .. 'due', '-inf', NOW, 'WITHSCORES', 'LIMIT', offset, 64)
  for i = 1, #due, 2 do
    -- Those due together with the last one are all looked at: which of them is the oldest is told below.
    if #found >= limit and due[i + 1] ~= last then
      due = {}
      break
    end
    local busy = redis.call('HGET', P .. 'op:' .. due[i], 'cu')
    if not (busy and tonumber(busy) > tonumber(NOW)) then
      last = due[i + 1]
      found[#found + 1] = {tonumber(last), tonumber(redis.call('ZSCORE', P .. 'ops', due[i])), due[i]}
    end
  end
  offset = offset + 64
until #due < 128
table.sort(found, function(a, b)
  if a[1] ~= b[1] then
    return a[1] < b[1]
  end
  return a[2] < b[2]
end)
local leased = {}
for i = 1, math.min(limit, #found) do
  redis.call('HSET', P .. 'op:' .. found[i][3], 'ct', ARGV[4], 'cu', from_now(ARGV[5]))
  leased[i] = record(found[i][3])
end
return answer('ok', leased)
