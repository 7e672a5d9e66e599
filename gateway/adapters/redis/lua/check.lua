-- Would a write be possible now?
--
-- KEYS[1]  oncegate:{:shared}:check
redis.call('SET', KEYS[1], now(), 'EX', 60)
return {ARGV[1], now()}
