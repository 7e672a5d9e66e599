-- Put one token back into each of some buckets that it was taken from.
--
-- KEYS[1]  as for take.lua
-- ARGV[2]…  triples: a bucket's own key, count, per_s
for i = 2, #ARGV, 3 do
  local name = KEYS[1] .. ':' .. ARGV[i]
  local tokens = redis.call('HGET', name, 'tokens')
  if tokens then
    redis.call('HSET', name, 'tokens', string.format('%.17g', math.min(tonumber(ARGV[i + 1]), tonumber(tokens) + 1)))
  end
end
return {ARGV[1], now()}
