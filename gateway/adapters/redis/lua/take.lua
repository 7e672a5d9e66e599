-- Take tokens from each of some buckets, or none from any. A bucket holds `count` and refills in `per_s` seconds.
--
-- KEYS[1]  oncegate:{TENANT}:rate, or oncegate:{:shared}:rate; followed by `:` and a bucket's own key:
--          hash: tokens; at (when that was true, store's clock, s). Gone once it is full
-- ARGV[2]…  fours: a bucket's own key, count, per_s, how many to take where there are so many, else one
--
-- Answers the number of the bucket that lets nobody through for longest (0: each gave something), the seconds until it
-- does, and for each what is left in it and how many it gave.
local NOW = now()
local names, left, refused, longest = {}, {}, 0, 0
for i = 2, #ARGV, 4 do
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
  local given = 0
  if refused == 0 then
    local most = tonumber(ARGV[4 * i + 1])
    given = left[i] >= most and most or 1
    left[i] = left[i] - given
    redis.call('HSET', name, 'tokens', string.format('%.17g', left[i]), 'at', NOW)
    redis.call('PEXPIRE', name, math.ceil(tonumber(ARGV[4 * i]) * 1000) + 1000)
  end
  told[#told + 1] = string.format('%.17g', left[i])
  told[#told + 1] = tostring(given)
end
return told
