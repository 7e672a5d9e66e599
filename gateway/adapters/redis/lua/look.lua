-- Everything kept about an intention, at one moment.
--
-- ARGV[4]  how many identity keys follow; after them come digests of holds, to the end
--
-- Answers a list of records, oldest first, and a list of {number of the hold, record}.
local count = tonumber(ARGV[4])
local found = {}
for i = 5, 4 + count do
  local keys = redis.call('ZRANGE', P .. 'id:' .. ARGV[i], 0, -1, 'WITHSCORES')
  for j = 1, #keys, 2 do
    found[#found + 1] = {tonumber(keys[j + 1]), keys[j]}
  end
end
if count > 1 then
  table.sort(found, function(a, b) return a[1] < b[1] end)
end
local occurrences = {}
for i, one in ipairs(found) do
  occurrences[i] = record(one[2])
end
local holders = {}
for i = 5 + count, #ARGV do
  for _, key in ipairs(redis.call('SMEMBERS', P .. 'hold:' .. ARGV[i])) do
    holders[#holders + 1] = {i - 4 - count, record(key)}
  end
end
return answer('ok', occurrences, holders)
