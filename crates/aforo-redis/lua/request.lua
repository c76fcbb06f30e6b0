-- What is asked.
--
-- KEYS: the counter of each hit; then, for each sliding log among them, the set of its entries.
-- ARGV: the operation; for each hit the algorithm, the mode ('+' if denials count), the cost and four numbers of its
--       quota; then, only where they are needed, the moment (tests alone give it), that of the take to be refunded, and by
--       how much this server may have dated it earlier.
--
-- The answer is the moment in two parts, whether the request is admitted, and every counter as it was: what that means
-- for each rule is worded by the engine, with the very code that decides in memory.

local call, format, match, ceil, floor = redis.call, string.format, string.match, math.ceil, math.floor
local op, hits = ARGV[1], floor(#ARGV / 7)
-- Milliseconds that a counter outlives its debt. On the clock of a test it is an hour, for a test takes its time.
local slack = 1000
-- The most milliseconds of a TTL, thirty thousand years: not far above, Lua would write an exponent.
local longest = 1e15
-- Below this a double holds every whole number.
local exact = 2 ^ 53
local time = ARGV[7 * hits + 2] or ''
if time == '' then
  time = call('TIME')
else
  time, slack = { '0', time }, 3600000
end
local now = time[1] * 1000000 + time[2]
-- What is no string is no counter of ours: it reads as none, and is written over.
local raws = call('MGET', unpack(KEYS, 1, hits))
