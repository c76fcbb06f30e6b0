-- What a careful hand writes for one limit: the generic cell rate algorithm, its arrival time in one number.
-- KEYS: the key. ARGV: microseconds between units, and the tolerance in microseconds.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local interval, tolerance = tonumber(ARGV[1]), tonumber(ARGV[2])
local arrival = tonumber(redis.call('GET', KEYS[1])) or now
if arrival < now then
  arrival = now
end
local next = arrival + interval
if next - tolerance > now then
  return { 0, 0, math.ceil(next - tolerance - now), math.ceil(arrival - now) }
end
redis.call('SET', KEYS[1], string.format('%.0f', next), 'PX', math.ceil((next - now) / 1000))
return { 1, math.floor((tolerance - (next - now)) / interval), 0, math.ceil(next - now) }
