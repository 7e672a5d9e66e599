-- Take one token from a bucket that holds `count` and refills in `per_s` seconds. A refusal takes nothing.
--
-- KEYS[1]  oncegate:rate:{CALLER}       hash: tokens; at (when that was true, store's clock, s). Gone once it is full
-- ARGV[2]  count  [3] per_s
--
-- Answers the seconds until there will be a token; empty: one was taken.
local NOW = now()
local count, per_s = tonumber(ARGV[2]), tonumber(ARGV[3])
local it = redis.call('HMGET', KEYS[1], 'tokens', 'at')
local tokens, wait = count, ''
if it[1] then
  tokens = math.min(count, tonumber(it[1]) + math.max(0, tonumber(NOW) - tonumber(it[2])) * count / per_s)
end
if tokens < 1 then
  wait = string.format('%.17g', (1 - tokens) * per_s / count)
else
  tokens = tokens - 1
end
redis.call('HSET', KEYS[1], 'tokens', string.format('%.17g', tokens), 'at', NOW)
redis.call('PEXPIRE', KEYS[1], math.ceil(per_s * 1000) + 1000)
return {ARGV[1], now(), wait}
