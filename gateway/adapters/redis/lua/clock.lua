-- Head of every script.
--
-- ARGV[1]  echo: comes back as the first element of the answer, so that a reply meant for another call is noticed.
--
-- The store's clock is the server's: seconds since 1970 with six decimals, as text. Times that were handed in are
-- kept as the text they came as: a Lua number printed back would lose its microseconds.
local function now()
  local t = redis.call('TIME')
  return t[1] .. '.' .. string.format('%06d', t[2])
end
