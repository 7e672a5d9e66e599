-- End a lease for care; a record that is still unknown is due again later. Another's lease is left alone.
--
-- ARGV[4]  the record's key  [5] token  [6] due again in, s
local op = P .. 'op:' .. ARGV[4]
local it = redis.call('HMGET', op, 'ct', 's')
if it[1] == ARGV[5] then
  redis.call('HDEL', op, 'ct', 'cu')
  if it[2] == 'unknown' then
    redis.call('ZADD', P .. 'due', from_now(ARGV[6]), ARGV[4])
  end
end
return answer('ok')
