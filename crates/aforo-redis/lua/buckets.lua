-- A take from token buckets alone that is admitted, as most requests are: what the rest of the script would do, without its
-- functions and tables, in three quarters of the time. Mirrors `decide_debt` in aforo-core/src/decision.rs. Anything
-- else, such as a counter in another grain than its quota's, is left to the rest of the script.

do
  local charged, at, p, admitted = {}, {}, 2, true
  for i = 1, hits do
    local per_unit, tick = ARGV[p + 4], ARGV[p + 6]
    local capacity = ARGV[p + 3] * per_unit
    local debt, from, raw = 0, now - now % tick, raws[i]
    if raw then
      local owed, since, counted_in = match(raw, '^t(%d+) (%d+) (%d+)$')
      if counted_in ~= per_unit or since % tick > 0 then
        admitted = false
        break
      end
      owed, since = owed + 0, since + 0
      if owed >= exact or since >= exact then
        admitted = false
        break
      end
      if since > from then
        from = since
      end
      if owed > capacity then
        owed = capacity
      end
      local drained = (from - since) / tick * ARGV[p + 5]
      if drained < owed then
        debt = owed - drained
      end
    end
    charged[i], at[i] = debt + ARGV[p + 2] * per_unit, from
    -- A cost of nothing writes nothing, and a shadow rule may be alone in refusing: both are rare.
    if charged[i] > capacity or charged[i] == debt then
      admitted = false
      break
    end
    p = p + 7
  end
  if admitted then
    p = 2
    for i = 1, hits do
      local clear_in = ceil(charged[i] / ARGV[p + 5]) * ARGV[p + 6] + at[i] - now
      local state = format('t%.0f %.0f %s', charged[i], at[i], ARGV[p + 4])
      local ttl = ceil(clear_in / 1000) + slack
      call('SET', KEYS[i], state, 'PX', ttl < longest and ttl or longest)
      p = p + 7
    end
    return { time[1], time[2], 1, unpack(raws) }
  end
end
