-- A piece of the stream of rows, newest first.
--
-- ARGV[4]  begin at this stream id, `+` for the newest  [5] end at this one, `-` for the oldest  [6] how many at most
--
-- Answers pairs of stream id and JSON.
local found = {}
for _, entry in ipairs(redis.call('XREVRANGE', P .. 'rows', ARGV[4], ARGV[5], 'COUNT', ARGV[6])) do
  found[#found + 1] = {entry[1], entry[2][2]}
end
return answer('ok', found)
