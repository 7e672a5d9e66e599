-- Lease one record for care, due or not, unless somebody else has it.
--
-- ARGV[4]  the record's key  [5] token  [6] for how long, s
local op = P .. 'op:' .. ARGV[4]
local it = redis.call('HMGET', op, 'k', 'ct', 'cu')
if not it[1] or (it[3] and tonumber(it[3]) > tonumber(NOW) and it[2] ~= ARGV[5]) then
  return answer('no')
end
redis.call('HSET', op, 'ct', ARGV[5], 'cu', from_now(ARGV[6]))
return answer('ok')
