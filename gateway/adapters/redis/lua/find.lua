-- One record.
--
-- ARGV[4]  `key` or `id`
-- ARGV[5]  the operation key, or the operation id
local key = ARGV[5]
if ARGV[4] == 'id' then
  key = redis.call('GET', P .. 'oid:' .. key)
  if not key then
    return answer('ok')
  end
end
return answer('ok', record(key))
