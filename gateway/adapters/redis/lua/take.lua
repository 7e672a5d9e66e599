-- Take one token from each of some buckets, or none from any. A bucket holds `count` and refills in `per_s` seconds.
--
-- KEYS[1]  oncegate:{TENANT}:rate, or oncegate:{:shared}:rate; followed by `:` and a bucket's own key:
--          hash: tokens; at (when that was true, store's clock, s). Gone once it is full
-- ARGV[2]…  triples: a bucket's own key, count, per_s
--
-- Answers the number of the bucket that lets nobody through for longest (0: one was taken from each), the seconds
-- until it does, and what is left in each.
local NOW = now()
local names, left, refused, longest = {}, {}, 0, 0
for i = 2, #ARGV, 3 do
  local count, per_s = tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2])
  local name = KEYS[1] .. ':' .. ARGV[i]
  local it = redis.call('HMGET', name, 'tokens', 'at')
  local tokens = count
  if it[1] then
    tokens = math.min(count, tonumber(it[1]) + math.max(0, tonumber(NOW) - tonumber(it[2])) * count / per_s)
  end
  names[#names + 1], left[#left + 1] = name, tokens
  local wait = (1 - tokens) * per_s / count
  if wait > longest then
    refused, longest = #names, wait
  end
end
local told = {ARGV[1], now(), tostring(refused), string.format('%.17g', longest)}
for i, name in ipairs(names) do
  if refused == 0 then
    left[i] = left[i] - 1
    redis.call('HSET', name, 'tokens', string.format('%.17g', left[i]), 'at', NOW)
    redis.call('PEXPIRE', name, math.ceil(tonumber(ARGV[3 * i + 1]) * 1000) + 1000)
  end
  told[#told + 1] = string.format('%.17g', left[i])
end
return told
