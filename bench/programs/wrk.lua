-- One line of numbers at the end, and, with KEYS set, another key for each request.

local keys = tonumber(os.getenv("KEYS") or "0")

if keys > 0 then
  local requests, at = {}, 0

  function init()
    for key = 1, keys do
      wrk.headers["X-Api-Key"] = string.format("key-%06d", key)
      requests[key] = wrk.format()
    end
  end

  -- A stride without a common factor: every key in turn, and neighbours in memory far apart.
  function request()
    at = (at + 7919) % keys
    return requests[at + 1]
  end
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    "NUMBERS %d %d %d %d %d %d\n",
    summary.requests, summary.duration, errors.status, errors.connect + errors.read + errors.write + errors.timeout,
    latency:percentile(50), latency:percentile(99)
  ))
end
