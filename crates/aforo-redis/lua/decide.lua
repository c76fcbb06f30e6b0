-- Every hit is weighed, then all or nothing is written. Mirrors `decide` in aforo-core/src/decision.rs.

local taken_at, slip = ARGV[7 * hits + 3], ARGV[7 * hits + 4] or 0

-- What each hit was weighed as: whether it fits, the numbers of its state, and what stands before it.
local fits, x, y, z, lumps = {}, {}, {}, {}, {}
local reply, admitted = { time[1], time[2], 1 }, true

for i = 1, hits do
  local p = 7 * i - 5
  local raw = sound(raws[i])
  local algorithm, cost, a, b, c, d = ARGV[p], ARGV[p + 2] + 0, ARGV[p + 3], ARGV[p + 4], ARGV[p + 5], ARGV[p + 6]
  reply[i + 3] = raws[i]
  if algorithm == 't' then
    fits[i], x[i], y[i], z[i] = weigh_token_bucket(raw, cost, a, b, c, d, now)
  elseif algorithm == 'f' then
    fits[i], x[i], y[i] = weigh_fixed_window(raw, cost, a + 0, b + 0, c, now)
  elseif algorithm == 's' then
    fits[i], x[i], y[i], z[i] = weigh_sliding_window(raw, cost, a + 0, b, c, now)
  else
    local leaving
    fits[i], x[i], y[i], leaving, z[i], lumps[i] = weigh_sliding_log(raw, KEYS[c + 0], cost, a + 0, b + 0, now)
    reply[i + 3] = tell_sliding_log(x[i], y[i], leaving)
  end
  if not fits[i] and (ARGV[p + 1] == 'enforce' or ARGV[p + 1] == 'enforce+') then
    admitted = false
  end
end

if not admitted then
  reply[3] = 0
end
if op == 'peek' then
  return reply
end

for i = 1, hits do
  local p, key = 7 * i - 5, KEYS[i]
  local algorithm, mode, cost, a, b, c, d =
    ARGV[p], ARGV[p + 1], ARGV[p + 2] + 0, ARGV[p + 3], ARGV[p + 4], ARGV[p + 5], ARGV[p + 6]
  local charge = op == 'take' and admitted and fits[i]
  local overcharge = op == 'take' and not charge and (mode == 'enforce+' or mode == 'shadow+')
  local refund = op == 'refund'
  -- Where nothing is written, the counter may still have lost its TTL, whoever took it, and would stay for ever.
  local write, ttl = cost > 0 and (charge or overcharge or refund)
  if algorithm == 't' then
    local debt = x[i]
    if charge then
      debt = z[i]
    elseif overcharge then
      debt = overcharge_token_bucket(cost, a, b, debt)
    elseif refund then
      debt = refund_token_bucket(cost, a, b, c, d, debt, taken_at, now)
    end
    ttl = ttl_token_bucket(debt, y[i], c, d, now)
    if write then
      write_token_bucket(key, debt, y[i], b, ttl)
    end
  elseif algorithm == 'f' then
    local used = x[i]
    if charge then
      used = used + cost
    elseif overcharge then
      used = overcharge_fixed_window(cost, a + 0, used)
    elseif refund then
      used = refund_fixed_window(cost, b + 0, c, used, y[i], taken_at + 0)
    end
    ttl = ttl_fixed_window(y[i], b, c, now)
    if write then
      write_fixed_window(key, used, y[i], ttl)
    end
  elseif algorithm == 's' then
    local previous, current = x[i], y[i]
    if charge then
      current = current + cost
    elseif overcharge then
      current = overcharge_sliding_window(cost, a + 0, current)
    elseif refund then
      previous, current = refund_sliding_window(cost, b + 0, previous, current, z[i], taken_at + 0)
    end
    ttl = ttl_sliding_window(z[i], b, now)
    if write then
      write_sliding_window(key, previous, current, z[i], b, ttl)
    end
  else
    local set = KEYS[c + 0]
    ttl = ttl_sliding_log(y[i], b, now)
    if write then
      if refund then
        refund_sliding_log(key, set, d + 0, b + 0, x[i], taken_at + 0, slip, now)
      else
        write_sliding_log(key, set, d + 0, a + 0, b + 0, y[i], z[i], lumps[i], now)
      end
      if not charge then
        -- What was told no longer holds, and the engine has no entries to see for itself.
        local _, live, newest, leaving = weigh_sliding_log(reread(key), set, cost, a + 0, b + 0, now)
        reply[i + 3] = reply[i + 3] .. tell_sliding_log(live, newest, leaving)
      end
    elseif call('PTTL', set) == -1 then
      call('PEXPIRE', set, ttl)
    end
  end
  if not write and raws[i] and call('PTTL', key) == -1 then
    call('PEXPIRE', key, ttl)
  end
end
return reply
