-- Consumes a one-time token: of all who try, one is accepted. Reading and deleting are one step.
--
-- KEYS   the token
-- ARGV   what it has to be bound to
-- answer now, then one of
--        A                accepted; the token is gone
--        F                it is bound to something else, and stays
--        N                there is none: it was consumed, its time is up, or it never was
local clock = redis.call('TIME')
local now = string.format('%.0f', clock[1] * 1000000 + clock[2])
local bound = redis.call('GET', KEYS[1])
if not bound then
  return {now, 'N'}
end
if bound ~= '1:' .. ARGV[1] then
  return {now, 'F'}
end
redis.call('DEL', KEYS[1])
return {now, 'A'}
