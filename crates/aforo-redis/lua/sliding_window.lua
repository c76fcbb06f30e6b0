-- Mirrors aforo-core/src/algorithm/sliding_window.rs.

-- Both counts as they stand in the window of `from`, which is now or, if the clock has stepped back behind the window
-- that the counter knows, that window's beginning.
local function settle_sliding_window(raw, limit, window, now)
  if not raw then
    return 0, 0, now
  end
  local previous, current, at, counted_in = match(raw, '^s(%d+) (%d+) (%d+) (%d+)$')
  if counted_in == window then
    previous, current, at = previous + 0, current + 0, at + 0
  else
    -- Counted in windows of another length or by another algorithm: what was in use then crosses over.
    previous = 0
    current, at = usage(raw)
  end
  local start = at - at % window
  local from = max(now, start)
  local passed = floor((from - start) / window)
  if passed == 1 then
    previous, current = current, 0
  elseif passed > 1 then
    previous, current = 0, 0
  end
  -- A lowered limit leaves at most a full window of each: that much can be outweighed within two windows.
  return min(previous, limit), min(current, limit), from
end

-- Whether the cost fits; both counts before, and their moment.
local function weigh_sliding_window(raw, cost, limit, window, tick, now)
  local previous, current, from = settle_sliding_window(raw, limit, window, now)
  local elapsed, ticks = floor(from % window / tick), window / tick
  local weighted = previous * (ticks - elapsed) + (current + cost) * ticks
  local fits = cost <= limit and (cost == 0 or weighted <= limit * ticks)
  return fits, previous, current, from
end

local function ttl_sliding_window(at, window, now)
  return forget_in(at - at % window + 2 * window - now)
end

local function write_sliding_window(key, previous, current, at, window, ttl)
  if previous == 0 and current == 0 then
    call('DEL', key)
  else
    call('SET', key, format('s%.0f %.0f %.0f %s', previous, current, at, window), 'PX', ttl)
  end
end

-- The count of this window after a refused cost that is counted all the same: at most full.
local function overcharge_sliding_window(cost, limit, current)
  return min(current + cost, limit)
end

-- The counts after a cost has been given back, if it was taken in one of their windows.
local function refund_sliding_window(cost, window, previous, current, at, taken_at)
  local start = at - at % window
  if taken_at >= start and taken_at - start < window then
    return previous, max(current - cost, 0)
  elseif taken_at < start and start - (taken_at - taken_at % window) == tonumber(window) then
    return max(previous - cost, 0), current
  end
  return previous, current
end
