-- Mirrors aforo-core/src/algorithm/fixed_window.rs. The anchor is 'epoch' or 'hit'.

local function start_of_window(at, window, anchor)
  return anchor == 'epoch' and at - at % window or at
end

-- Units used in the window of `from`, which is now or, if the clock has stepped back behind the window that the counter
-- knows, that window's beginning; and the moment by which the state names the window.
local function settle_fixed_window(raw, window, anchor, now)
  local used, at = usage(raw)
  if used == 0 then
    return 0, now, now
  end
  local start = start_of_window(at, window, anchor)
  local from = max(now, start)
  if from - start >= window then
    return 0, from, from
  end
  return used, from, anchor == 'epoch' and max(at, from) or start
end

-- Whether the cost fits; the count and the moment that names its window.
local function weigh_fixed_window(raw, cost, limit, window, anchor, now)
  local used, _, at = settle_fixed_window(raw, window, anchor, now)
  local fits = cost <= limit and (cost == 0 or cost <= max(limit - used, 0))
  return fits, used, at
end

local function ttl_fixed_window(at, window, anchor, now)
  return forget_in(start_of_window(at, window, anchor) + window - now)
end

local function write_fixed_window(key, used, at, ttl)
  if used == 0 then
    call('DEL', key)
  else
    call('SET', key, format('f%.0f %.0f', used, at), 'PX', ttl)
  end
end

-- The count after a refused cost that is counted all the same: at most full.
local function overcharge_fixed_window(cost, limit, used)
  return max(used, min(used + cost, limit))
end

-- The count after a cost has been given back, if it was taken in the same window.
local function refund_fixed_window(cost, window, anchor, used, at, taken_at)
  local start = start_of_window(at, window, anchor)
  if taken_at < start or taken_at - start >= window then
    return used
  end
  return max(used - cost, 0)
end
