-- One move of an approval that no record moves with.
--
-- ARGV[4]  number of rows; then the rows, three arguments each; then the move, see approval.lua
local rows = tonumber(ARGV[4])
local at = 5 + 3 * rows
local other = overtaken(at)
if other then
  return answer('overtaken', approval(other))
end
stamp()
append(5, rows)
move(at)
return answer('applied')
