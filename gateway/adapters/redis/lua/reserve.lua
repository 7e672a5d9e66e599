-- Count what a call costs its run, once however often it is asked.
--
-- KEYS[1]  oncegate:{TENANT}:spent; followed by `:`, the run and the unit:
--          hash: an amount for each call, by its id. Gone when nothing was counted for a long time
-- ARGV[2]  run and unit  [3] call  [4] amount  [5] the most that may be spent  [6] seconds to keep it
--
-- Answers what is spent already, where the amount would be too much; empty: it is counted.
local name = KEYS[1] .. ':' .. ARGV[2]
if redis.call('HEXISTS', name, ARGV[3]) == 0 then
  local spent = 0
  for _, amount in ipairs(redis.call('HVALS', name)) do
    spent = spent + tonumber(amount)
  end
  if spent + tonumber(ARGV[4]) > tonumber(ARGV[5]) + 1e-9 then
    return {ARGV[1], now(), string.format('%.17g', spent)}
  end
  redis.call('HSET', name, ARGV[3], ARGV[4])
end
redis.call('EXPIRE', name, ARGV[6])
return {ARGV[1], now(), ''}
