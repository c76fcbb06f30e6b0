-- What a counter holds: a letter for the algorithm that counted, then whole numbers.
--
--   t<debt> <at> <per unit>                   token bucket
--   f<used> <at>                              fixed window
--   s<previous> <current> <at> <window>       sliding window
--   l<live> <newest> <entries so far>         sliding log; the entries lie in a sorted set beside it
--
-- Units are fewer than 2^32, and all numbers below 2^53. Windows and units of grains begin with no zero.
--
-- Mirrors aforo-core/src/state.rs. A double holds every integer up to 2^53, and the quotas are made so that no result
-- that matters is larger. A number is written by '%.0f': concatenated, a moment would lose its last digits.

local max, min = math.max, math.min

-- ceil(a * b / c) for b <= c, where a * b may be too large for a double: long division by the hexadecimal digits of a.
local function share(a, b, c)
  local quotient, rest = 0, 0
  for place = 7, 0, -1 do
    local digit = floor(a / 16 ^ place) % 16
    rest = rest * 16 + digit * b
    quotient = quotient * 16 + floor(rest / c)
    rest = rest % c
  end
  return rest > 0 and quotient + 1 or quotient
end

-- What a counter holds, or false if no algorithm has written it: it counts as fresh. Mirrors `state_of` in counters.rs.
local function sound(raw)
  if not raw then
    return false
  end
  local debt, at, by = match(raw, '^t(%d+) (%d+) ([1-9]%d*)$')
  if debt then
    return debt + 0 < exact and at + 0 < exact and by + 0 < exact and raw
  end
  local used, more
  used, at = match(raw, '^f(%d+) (%d+)$')
  if not used then
    used, at, by = match(raw, '^l(%d+) (%d+) (%d+)$')
  end
  if not used then
    used, more, at, by = match(raw, '^s(%d+) (%d+) (%d+) ([1-9]%d*)$')
  end
  return used and used + 0 < 2 ^ 32 and (more or 0) + 0 < 2 ^ 32 and at + 0 < exact and (by or 0) + 0 < exact and raw
end

-- Units in use when the counter was last charged, whatever the algorithm, and when that was: State::usage.
local function usage(raw)
  raw = raw or ''
  local used, at = match(raw, '^f(%d+) (%d+)$')
  if not used then
    used, at = match(raw, '^l(%d+) (%d+) %d+$')
  end
  if used then
    return used + 0, at + 0
  end
  local debt, since, per_unit = match(raw, '^t(%d+) (%d+) ([1-9]%d*)$')
  if debt then
    return ceil(debt / per_unit), since + 0
  end
  local previous, current, last, window = match(raw, '^s(%d+) (%d+) (%d+) ([1-9]%d*)$')
  if previous then
    local left = window - last % window
    return share(previous + 0, left, window + 0) + current, last + 0
  end
  return 0, 0
end

-- Milliseconds until a counter that is clear in so many microseconds may be forgotten. One that lost its TTL may have been
-- clear for long.
local function forget_in(micros)
  return min(max(ceil(micros / 1000) + slack, 1), longest)
end
