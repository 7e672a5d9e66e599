-- A piece of a list of records, newest first.
--
-- ARGV[4]  the list: `ops` or `open`
-- ARGV[5]  begin below this seq, `+inf` for the newest
-- ARGV[6]  look at this many records at most  [7] give this many at most
-- ARGV[8]  states, each between commas; empty: any  [9] run  [10] subject  [11] tool: empty: any
--
-- Answers the seq to begin below next time (empty: there are no more), and records.
local keys = redis.call('ZREVRANGEBYSCORE', P .. ARGV[4], ARGV[5], '-inf', 'WITHSCORES', 'LIMIT', 0, ARGV[6])
local found, last = {}, ''
for i = 1, #keys, 2 do
  last = '(' .. keys[i + 1]
  local it = redis.call('HMGET', P .. 'op:' .. keys[i], 's', 'run', 'sub', 'tool')
  if (ARGV[8] == '' or string.find(ARGV[8], ',' .. it[1] .. ',', 1, true))
    and (ARGV[9] == '' or ARGV[9] == it[2])
    and (ARGV[10] == '' or ARGV[10] == it[3])
    and (ARGV[11] == '' or ARGV[11] == it[4]) then
    found[#found + 1] = record(keys[i])
    if #found == tonumber(ARGV[7]) then
      break
    end
  end
end
if #keys < 2 * tonumber(ARGV[6]) and #found < tonumber(ARGV[7]) then
  last = ''
end
return answer('ok', last, found)
