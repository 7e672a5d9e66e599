-- Write a breaker, if the generation there is the expected one. Nobody ever wrote is generation 0. Sent again it finds
-- its own generation, and the writer knows its mark.
--
-- KEYS[1]  oncegate:{:shared}:breakers  see breakers.lua
-- ARGV[2]  scope  [3] generation expected  [4] JSON of the breaker
--
-- Answers the breaker that stands there now; empty: none.
local field = 'b:' .. ARGV[2]
local there = redis.call('HGET', KEYS[1], field)
local generation = there and cjson.decode(there).breaker.generation or 0
if generation == tonumber(ARGV[3]) then
  redis.call('HSET', KEYS[1], field, ARGV[4])
  there = ARGV[4]
end
return {ARGV[1], now(), there or ''}
