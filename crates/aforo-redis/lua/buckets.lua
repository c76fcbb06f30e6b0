-- A take from token buckets alone, which most requests are: what the rest of the script would do, without its functions
-- and tables, in half the time. Mirrors `decide_debt` in aforo-core/src/decision.rs. Where a counter was counted by
-- anything but its quota's own grain, the rest of the script decides.

do
  local debts, charged, at, p, native, admitted = {}, {}, {}, 2, true, true
  for i = 1, hits do
    local cost, burst, per_unit, per_tick, tick = ARGV[p + 2], ARGV[p + 3], ARGV[p + 4], ARGV[p + 5], ARGV[p + 6]
    local capacity = burst * per_unit
    local debt, from, raw = 0, now - now % tick, raws[i]
    if raw then
      local owed, since, counted_in = match(raw, '^t(%d+) (%d+) (%d+)$')
      if counted_in ~= per_unit or since % tick > 0 then
        native = false
        break
      end
      owed, since = owed + 0, since + 0
      if since > from then
        from = since
      end
      if owed > capacity then
        owed = capacity
      end
      local drained = (from - since) / tick * per_tick
      if drained < owed then
        debt = owed - drained
      end
    end
    debts[i], at[i], charged[i] = debt, from, debt + cost * per_unit
    if charged[i] > capacity then
      charged[i] = debt
      admitted = admitted and ARGV[p + 1] == 'shadow'
    end
    p = p + 7
  end
  if native then
    p = 2
    for i = 1, hits do
      local debt = admitted and charged[i] or debts[i]
      local ttl = forget_in(ceil(debt / ARGV[p + 5]) * ARGV[p + 6] + at[i] - now)
      if debt > debts[i] then
        call('SET', KEYS[i], format('t%.0f %.0f %s', debt, at[i], ARGV[p + 4]), 'PX', ttl)
      elseif raws[i] and call('PTTL', KEYS[i]) == -1 then
        -- Nothing is written, but a counter that lost its TTL, whoever took it, would stay for ever.
        call('PEXPIRE', KEYS[i], ttl)
      end
      p = p + 7
    end
    return { time[1], time[2], admitted and 1 or 0, unpack(raws) }
  end
end
