-- Head of scripts that are asked now and then in any case: whoever asks hears with them what others found out.
--
-- Their KEYS[1] has the tag of what tenants share, and with it the slot of the memory, see identify.lua.

-- Id and since of the memory, and the replication id of this server; that is empty where it is no master. An open
-- connection may have outlived that its server was made a replica, and a master again.
local function standing()
  local it = redis.call('HMGET', 'oncegate:{:shared}:memory', 'id', 'since')
  local said = redis.call('INFO', 'replication')
  local server = string.find(said, 'role:master', 1, true) and string.match(said, 'master_replid:(%w+)')
  return {it[1] or '', it[2] or '0', server or ''}
end
