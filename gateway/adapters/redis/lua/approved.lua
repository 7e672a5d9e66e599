-- One approval.
--
-- ARGV[4]  `id`, or `action` for the newest of an action
-- ARGV[5]  the id, or the action hash
local id = ARGV[5]
if ARGV[4] == 'action' then
  id = redis.call('GET', P .. 'act:' .. id)
  if not id then
    return answer('ok')
  end
end
return answer('ok', redis.call('HMGET', P .. 'ap:' .. id, 'h', 'b'))
