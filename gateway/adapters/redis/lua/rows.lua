-- Append execution rows.
--
-- ARGV[4]  how many; then three arguments each: id, wall time in ms, JSON
stamp()
append(5, tonumber(ARGV[4]))
return answer('ok')
