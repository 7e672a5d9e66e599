-- Take back what was counted for a call.
--
-- KEYS[1]  as for reserve.lua
-- ARGV[2]  run and unit  [3] call
redis.call('HDEL', KEYS[1] .. ':' .. ARGV[2], ARGV[3])
return {ARGV[1], now()}
