-- Keeps a one-time token until it is consumed, or its time is up.
--
-- KEYS   the token
-- ARGV   what it is bound to; for how long, in milliseconds
-- answer now, '1' if it is kept, '0' if there is one of this name
local clock = redis.call('TIME')
local now = string.format('%.0f', clock[1] * 1000000 + clock[2])
local kept = redis.call('SET', KEYS[1], '1:' .. ARGV[1], 'NX', 'PX', ARGV[2])
return {now, kept and '1' or '0'}
