-- Head of every script that acts on what is kept of one tenant. Every key begins with P, which carries the tenant as
-- hash tag: all of them live in one slot, and one script may move them together.
--
-- KEYS[1]  oncegate:{TENANT}:memory
-- ARGV[2]  id of the tenant's memory, as the caller knows it
-- ARGV[3]  the caller's wall clock, s since 1970
--
-- memory        hash: id; secret (keys the digests of holds, sealed); wall (largest wall time stored, s);
--               row_ms (time of the last row, ms)
-- op:KEY        hash of one record: k (its key), v (version), x (1: tombstone), h and m (JSON), b (bodies, sealed);
--               for scripts: s (state), tool, sub(ject), run; ct, cu (who reconciles it, and until when, s)
-- id:IDENTITY   zset of keys by seq: the occurrences of one identity
-- oid:ID        the key of an operation id
-- hold:DIGEST   set of the keys that stand on one hold
-- ops, open     zset of keys by seq: all records; those neither done nor refused
-- kept:TOOL     zset of keys by the wall time of their end (s): settled records that have bodies
-- buried        hash: of each TOOL the tombstone whose operation was done last: the wall time of its end (s), and its key
-- tools         set: every TOOL of which there ever was a kept:TOOL
-- due           zset of keys by when they need care (store's clock, s)
-- doubt         zset of keys by since when they are in doubt (wall, s)
-- rows          stream of execution rows: r (JSON); its ids are wall times, ms
-- row:ID        for ten minutes: this row is in `rows`
local P = string.sub(KEYS[1], 1, -7)
local NOW = now()
local known = redis.call('HMGET', KEYS[1], 'id', 'wall', 'row_ms')
if known[1] ~= ARGV[2] then
  return {ARGV[1], NOW, '0', 'forgotten'}
end
local WALL = known[2] or '0'

-- Keep the largest wall time that anybody came with.
local function stamp()
  if tonumber(ARGV[3]) > tonumber(WALL) then
    WALL = ARGV[3]
    redis.call('HSET', KEYS[1], 'wall', WALL)
  end
end

local function answer(status, ...)
  return {ARGV[1], NOW, WALL, status, ...}
end

local function record(key)
  return redis.call('HMGET', P .. 'op:' .. key, 'k', 'v', 'x', 'h', 'm', 'b')
end

-- Append `count` rows, each three arguments from ARGV[at] on: id, wall time in ms, JSON. One that is there stays.
local function append(at, count)
  local last = known[3] or '0'
  for i = at, at + 3 * count - 1, 3 do
    if redis.call('SET', P .. 'row:' .. ARGV[i], '1', 'NX', 'EX', 600) then
      if tonumber(ARGV[i + 1]) > tonumber(last) then
        last = ARGV[i + 1]
      end
      redis.call('XADD', P .. 'rows', last .. '-*', 'r', ARGV[i + 2])
    end
  end
  redis.call('HSET', KEYS[1], 'row_ms', last)
end

-- The time `seconds` from now on the store's clock.
local function from_now(seconds)
  return string.format('%.6f', tonumber(NOW) + tonumber(seconds))
end
