-- The memory of one tenant, made if there is none.
--
-- KEYS[1]  oncegate:{TENANT}:memory    hash: id, secret (and more, see tenant.lua)
-- ARGV[2]  id for a memory that has none
-- ARGV[3]  secret for it, sealed
-- ARGV[4]  a secret as it is stored, to be exchanged for ARGV[5]: the same one sealed with another key; empty: none
local NOW = now()
if redis.call('HSETNX', KEYS[1], 'id', ARGV[2]) == 1 then
  redis.call('HSET', KEYS[1], 'secret', ARGV[3])
end
if ARGV[4] ~= '' and redis.call('HGET', KEYS[1], 'secret') == ARGV[4] then
  redis.call('HSET', KEYS[1], 'secret', ARGV[5])
end
local it = redis.call('HMGET', KEYS[1], 'id', 'secret')
return {ARGV[1], NOW, it[1], it[2]}
