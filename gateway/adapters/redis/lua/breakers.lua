-- What is known about dependencies.
--
-- KEYS[1]  oncegate:{:shared}:breakers  hash: `b:SCOPE` -> JSON of a breaker; `t:SCOPE` -> throttled until
--                                       (store's clock, s)
-- ARGV[2…] scopes
--
-- Answers for each scope the breaker and the time, empty: nobody ever wrote; and how the memory stands.
local told = {}
for i = 2, #ARGV do
  local it = redis.call('HMGET', KEYS[1], 'b:' .. ARGV[i], 't:' .. ARGV[i])
  told[#told + 1] = it[1] or ''
  told[#told + 1] = it[2] or ''
end
return {ARGV[1], now(), told, standing()}
