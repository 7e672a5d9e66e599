-- A piece of a tenant's approvals, newest first.
--
-- ARGV[4]  begin below this seq, `+inf` for the newest
-- ARGV[5]  look at this many at most  [6] give this many at most
-- ARGV[7]  statuses, each between commas; empty: any  [8] run  [9] tool: empty: any
-- ARGV[10] only those of this subject or of the permissions that follow
--
-- Answers the seq to begin below next time (empty: there are no more), and approvals.
local allowed = {}
for i = 11, #ARGV do
  allowed[ARGV[i]] = true
end
local ids = redis.call('ZREVRANGEBYSCORE', P .. 'aps', ARGV[4], '-inf', 'WITHSCORES', 'LIMIT', 0, ARGV[5])
local found, last = {}, ''
for i = 1, #ids, 2 do
  last = '(' .. ids[i + 1]
  local it = redis.call('HMGET', P .. 'ap:' .. ids[i], 's', 'run', 'tool', 'sub', 'apr', 'h', 'b')
  if (ARGV[7] == '' or string.find(ARGV[7], ',' .. it[1] .. ',', 1, true))
    and (ARGV[8] == '' or ARGV[8] == it[2])
    and (ARGV[9] == '' or ARGV[9] == it[3])
    and (ARGV[10] == it[4] or allowed[it[5]]) then
    found[#found + 1] = {it[6], it[7]}
    if #found == tonumber(ARGV[6]) then
      break
    end
  end
end
if #ids < 2 * tonumber(ARGV[5]) and #found < tonumber(ARGV[6]) then
  last = ''
end
return answer('ok', last, found)
