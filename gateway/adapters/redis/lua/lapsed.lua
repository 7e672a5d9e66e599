-- Live approvals whose time is over, the longest over first.
--
-- ARGV[4]  at this wall time (s)  [5] how many at most
local found = {}
for i, id in ipairs(redis.call('ZRANGEBYSCORE', P .. 'aplive', '-inf', ARGV[4], 'LIMIT', 0, ARGV[5])) do
  found[i] = redis.call('HMGET', P .. 'ap:' .. id, 'h', 'b')
end
return answer('ok', found)
