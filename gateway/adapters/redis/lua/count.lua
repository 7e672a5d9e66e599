-- What a tenant has in doubt, and of which tools it keeps bodies.
--
-- Answers triples of tool, number in doubt and since when the oldest is (wall, s); and a list of tools.
local counts, oldest, order = {}, {}, {}
local doubt = redis.call('ZRANGE', P .. 'doubt', 0, -1, 'WITHSCORES')
for i = 1, #doubt, 2 do
  local tool = redis.call('HGET', P .. 'op:' .. doubt[i], 'tool')
  if not counts[tool] then
    counts[tool], oldest[tool], order[#order + 1] = 0, doubt[i + 1], tool
  end
  counts[tool] = counts[tool] + 1
end
local told = {}
for i, tool in ipairs(order) do
  told[i] = {tool, counts[tool], oldest[tool]}
end
local kept = {}
for _, tool in ipairs(redis.call('SMEMBERS', P .. 'tools')) do
  if redis.call('ZCARD', P .. 'kept:' .. tool) > 0 then
    kept[#kept + 1] = tool
  end
end
return answer('ok', told, kept)
