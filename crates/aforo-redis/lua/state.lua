-- What a counter holds: a letter for the algorithm that counted, then whole numbers.
--
--   t<debt> <at> <per unit>                   token bucket
--   f<used> <at>                              fixed window
--   s<previous> <current> <at> <window>       sliding window
--   l<live> <newest> <entries so far>         sliding log; the entries lie in a sorted set beside it
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

-- Units in use when the counter was last charged, whatever the algorithm, and when that was: State::usage. What no
-- algorithm has written counts as fresh.
local function usage(raw)
  local letter, a, b, c, d = match(raw or '', '^(%a)(%d+) (%d+) ?(%d*) ?(%d*)$')
  if letter == 't' then
    return ceil(a / max(c, 1)), b + 0
  elseif letter == 'f' or letter == 'l' then
    return a + 0, b + 0
  elseif letter == 's' then
    local left = d - c % d
    return share(a + 0, left, d + 0) + b, c + 0
  end
  return 0, 0
end

-- Milliseconds until a counter that is clear in so many microseconds may be forgotten.
local function forget_in(micros)
  return ceil(micros / 1000) + slack
end
