-- Pinned manifests. One that is pinned stays as it is.
--
-- KEYS[1]  oncegate:{:shared}:manifests   hash: digest -> JSON
-- ARGV[2…] pairs of digest and JSON to add
for i = 2, #ARGV, 2 do
  redis.call('HSETNX', KEYS[1], ARGV[i], ARGV[i + 1])
end
return {ARGV[1], now(), redis.call('HVALS', KEYS[1])}
