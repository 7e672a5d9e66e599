-- Keep the later of two times.
--
-- KEYS[1]  oncegate:{:shared}:breakers  see breakers.lua
-- ARGV[2]  scope  [3] throttled until (store's clock, s)
local field = 't:' .. ARGV[2]
local there = redis.call('HGET', KEYS[1], field)
if not there or tonumber(there) < tonumber(ARGV[3]) then
  redis.call('HSET', KEYS[1], field, ARGV[3])
end
return {ARGV[1], now()}
