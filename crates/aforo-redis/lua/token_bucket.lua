-- Mirrors aforo-core/src/algorithm/token_bucket.rs.

-- A state as a debt, whatever it was counted by.
local function debt_of(raw, per_unit, tick, now)
  if not raw then
    return 0, now - now % tick
  end
  local debt, at, counted_in = match(raw, '^t(%d+) (%d+) (%d+)$')
  if counted_in == per_unit then
    return debt + 0, at + 0
  end
  -- Counted in another grain or by another algorithm: whole units cross over.
  local used
  used, at = usage(raw)
  return used * per_unit, at
end

-- The debt on the tick that `now` lies in, or on its own if the clock has stepped back.
local function drain(capacity, per_tick, tick, debt, at, now)
  local behind = at % tick
  if behind > 0 then
    at = at + tick - behind
  end
  local from = max(now - now % tick, at)
  local drained = (from - at) / tick * per_tick
  return max(min(debt, capacity) - drained, 0), from
end

-- Whether the cost fits; the debt and its moment before, and the debt after.
local function weigh_token_bucket(raw, cost, burst, per_unit, per_tick, tick, now)
  local capacity = burst * per_unit
  local debt, at = debt_of(raw, per_unit, tick, now)
  debt, at = drain(capacity, per_tick, tick, debt, at, now)
  local charged = debt + cost * per_unit
  return charged <= capacity, debt, at, charged
end

local function ttl_token_bucket(debt, at, per_tick, tick, now)
  return forget_in(ceil(debt / per_tick) * tick + at - now)
end

local function write_token_bucket(key, debt, at, per_unit, ttl)
  if debt == 0 then
    call('DEL', key)
  else
    call('SET', key, format('t%.0f %.0f %s', debt, at, per_unit), 'PX', ttl)
  end
end

-- The debt after a refused cost that is counted all the same: at most full.
local function overcharge_token_bucket(cost, burst, per_unit, debt)
  return min(debt + cost * per_unit, burst * per_unit)
end

-- The debt after a cost has been given back; unchanged once the bucket must have drained since.
local function refund_token_bucket(cost, burst, per_unit, per_tick, tick, debt, taken_at, now)
  if now - taken_at >= ceil(burst * per_unit / per_tick) * tick then
    return debt
  end
  local given = min(cost, ceil(debt / per_unit)) * per_unit
  return max(debt - given, 0)
end
