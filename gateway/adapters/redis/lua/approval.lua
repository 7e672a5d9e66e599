-- Head of the scripts that move approvals.
--
-- ap:ID         hash of one approval: v (version), s (status), h (JSON), b (sealed); for scripts: sub(ject), apr (the
--               permission of whoever decides), run, tool, op (operation id; may be empty),
--               act (its action hash)
-- act:HASH      id of the newest approval of an action
-- aps           zset of ids by seq
-- aplive        zset of ids by when they lapse (wall, s): pending, approved, reserved
-- apended       zset of ids by when they ended (wall, s)
--
-- A move is fourteen arguments from ARGV[at] on: id, version before (empty: there must be none), version, action hash,
-- status, lapses (wall, s), ended (wall, s; empty: not), subject, permission, run, tool, operation id, h, b.

-- The id of the approval for which a move may not be made; nil: it may.
local function overtaken(at)
  local id = ARGV[at]
  local version = redis.call('HGET', P .. 'ap:' .. id, 'v') or ''
  if version ~= ARGV[at + 1] then
    return id
  end
  if version == '' then
    local newest = redis.call('GET', P .. 'act:' .. ARGV[at + 3])
    if newest and redis.call('ZSCORE', P .. 'aplive', newest) then
      return newest
    end
  end
end

local function approval(id)
  return redis.call('HMGET', P .. 'ap:' .. id, 'h', 'b')
end

-- Make a move that nothing keeps from being made.
local function move(at)
  local id = ARGV[at]
  if ARGV[at + 1] == '' then
    local t = redis.call('TIME')
    local seq = tonumber(t[1]) * 1000000 + tonumber(t[2])
    local newest = redis.call('ZREVRANGE', P .. 'aps', 0, 0, 'WITHSCORES')
    if newest[2] and tonumber(newest[2]) >= seq then
      seq = tonumber(newest[2]) + 1
    end
    redis.call('ZADD', P .. 'aps', string.format('%.0f', seq), id)
    redis.call('SET', P .. 'act:' .. ARGV[at + 3], id)
  end
  redis.call('HSET', P .. 'ap:' .. id, 'v', ARGV[at + 2], 's', ARGV[at + 4], 'sub', ARGV[at + 7], 'apr', ARGV[at + 8],
    'run', ARGV[at + 9], 'tool', ARGV[at + 10], 'op', ARGV[at + 11], 'act', ARGV[at + 3], 'h', ARGV[at + 12],
    'b', ARGV[at + 13])
  if ARGV[at + 6] == '' then
    redis.call('ZADD', P .. 'aplive', ARGV[at + 5], id)
    redis.call('ZREM', P .. 'apended', id)
  else
    redis.call('ZREM', P .. 'aplive', id)
    redis.call('ZADD', P .. 'apended', ARGV[at + 6], id)
  end
end
