-- Mirrors aforo-core/src/algorithm/sliding_log.rs. The entries lie in a sorted set, scored by their moments and named by
-- their number, so that two units of one moment are two entries.

-- What a counter holds by now.
local function reread(key)
  return sound(call('MGET', key)[1])
end

-- How many entries lie in a set, or nothing if it is no set of ours.
local function entries_in(set)
  local count = redis.pcall('ZCARD', set)
  return type(count) == 'number' and count or nil
end

-- The entries that count at `now`: how many, the moment of the newest, that of the last one which must leave before the
-- cost fits, how many have left the window, and what comes instead of the set if another algorithm has counted:
-- that many units at one moment.
local function settle_sliding_log(raw, set, cost, limit, window, now)
  local newest = match(raw or '', '^l%d+ (%d+) %d+$')
  if not newest then
    local used, at = usage(raw)
    used = min(used, limit)
    local from = max(now, at)
    local live = from - at < window and used or 0
    return live, at, at, 0, from, live
  end
  newest = newest + 0
  local from = max(now, newest)
  local total = entries_in(set)
  if not total then
    return 0, now, now, 0, now, 0
  end
  local gone = call('ZCOUNT', set, '-inf', format('%.0f', from - window))
  return total - gone, newest, nil, gone, from, nil
end

-- Whether the cost fits; how many entries count, the newest, when the last one that must leave was taken, the moment of
-- weighing, and the units that another algorithm has counted.
local function weigh_sliding_log(raw, set, cost, limit, window, now)
  local live, newest, leaving, gone, from, lump = settle_sliding_log(raw, set, cost, limit, window, now)
  if live == 0 then
    newest = now
  end
  local fits = cost <= limit and (cost == 0 or cost <= max(limit - live, 0))
  if fits or cost > limit then
    leaving = newest
  elseif not lump then
    local place = gone + cost - max(limit - live, 0) + max(live - limit, 0) - 1
    -- No entry of ours is newer than the newest.
    leaving = min(call('ZRANGE', set, place, place, 'WITHSCORES')[2] + 0, newest)
  end
  return fits, live, newest, leaving, from, lump
end

-- What the engine is told of a log: it has no entries, so that of the last one which must leave goes along.
local function tell_sliding_log(live, newest, leaving)
  return format('l%.0f %.0f %.0f', live, newest, leaving)
end

-- Adds `count` entries of one moment, numbered from `number`.
local function add_entries(set, count, at, number)
  local score = format('%.0f', at)
  local first = 1
  while first <= count do
    local entries = {}
    for entry = first, min(first + 499, count) do
      entries[#entries + 1] = score
      entries[#entries + 1] = format('%.0f', number + entry)
    end
    call('ZADD', set, unpack(entries))
    first = first + 500
  end
  return number + count
end

-- How many entries a log has had, or nothing if it is none yet.
local function number_of(raw)
  return tonumber(match(raw or '', '^l%d+ %d+ (%d+)$'))
end

local function ttl_sliding_log(newest, window, now)
  return forget_in(newest + window - now)
end

local function write_summary(key, set, live, newest, number, window, now)
  if live == 0 then
    call('DEL', key, set)
  else
    local ttl = ttl_sliding_log(newest, window, now)
    call('SET', key, format('l%.0f %.0f %.0f', live, newest, number), 'PX', ttl)
    call('PEXPIRE', set, ttl)
  end
end

-- Drops what has left the window, adds the units, and keeps no more than the limit: charge and overcharge.
local function write_sliding_log(key, set, cost, limit, window, newest, from, lump, now)
  -- Read again: an earlier hit of this request may have been counted in the same log.
  local number = number_of(reread(key))
  if lump and not (number and entries_in(set)) then
    call('DEL', set)
    number = add_entries(set, lump, newest, 0)
  else
    call('ZREMRANGEBYSCORE', set, '-inf', format('%.0f', from - window))
  end
  number = add_entries(set, min(cost, limit), from, number)
  local kept = call('ZCARD', set)
  if kept > limit then
    call('ZREMRANGEBYRANK', set, 0, kept - limit - 1)
    kept = limit
  end
  write_summary(key, set, kept, from, number, window, now)
end

-- Removes as many entries of the moment as were taken then, unless all have left the window. If another server has dated
-- the take, entries that are older by no more than the slip will do.
local function refund_sliding_log(key, set, cost, window, live, taken_at, slip, now)
  local number = number_of(reread(key))
  if live == 0 or not number then
    -- Counted by another algorithm, there is no entry of that moment.
    return
  end
  local from = format('%.0f', taken_at - slip)
  local found = min(call('ZCOUNT', set, from, format('%.0f', taken_at)), cost)
  if found == 0 then
    return
  end
  local first = call('ZCOUNT', set, '-inf', '(' .. from)
  call('ZREMRANGEBYRANK', set, first, first + found - 1)
  local last = call('ZRANGE', set, -1, -1, 'WITHSCORES')
  write_summary(key, set, call('ZCARD', set), (last[2] or 0) + 0, number, window, now)
end
