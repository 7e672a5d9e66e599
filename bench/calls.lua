-- One kind of call for wrk: wrk … URL -- BODY FIRST MANY
-- "%d" in BODY is a number that counts up from FIRST and, where MANY is not 0, begins again after MANY calls.
local body, first, many, number, constant

function init(args)
  body, first, many = args[1], tonumber(args[2]), tonumber(args[3])
  number = 0
  wrk.method = "POST"
  if not body:find("%%d") then
    constant = wrk.format(nil, nil, nil, body)
  end
end

function request()
  if constant then
    return constant
  end
  local text = string.format(body, first + number)
  number = number + 1
  if many > 0 and number >= many then
    number = 0
  end
  return wrk.format(nil, nil, nil, text)
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\nDONE {"calls": %d, "micros": %d, "broken": %d, "not_ok": %d, "p50_us": %d, "p99_us": %d}\n',
    summary.requests, summary.duration, errors.connect + errors.read + errors.write + errors.timeout,
    errors.status, latency:percentile(50), latency:percentile(99)
  ))
end
