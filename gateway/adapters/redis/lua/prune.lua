-- Delete execution rows.
--
-- ARGV[4]  of this wall time (ms) and earlier
stamp()
redis.call('XTRIM', P .. 'rows', 'MINID', '=', string.format('%.0f', tonumber(ARGV[4]) + 1))
return answer('ok')
