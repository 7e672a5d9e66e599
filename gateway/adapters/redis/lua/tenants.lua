-- The names of all tenants of which something may be kept.
--
-- KEYS[1]  oncegate:{:shared}:tenants  set of names
-- ARGV[2…] names to add
--
-- Answers all of them, and how the memory stands.
for i = 2, #ARGV do
  redis.call('SADD', KEYS[1], ARGV[i])
end
return {ARGV[1], now(), redis.call('SMEMBERS', KEYS[1]), standing()}
