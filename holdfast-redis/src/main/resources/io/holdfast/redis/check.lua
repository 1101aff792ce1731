#!lua flags=allow-oom
-- Uses, once, every command that the other scripts use, so that a missing permission or a read-only server is told at
-- the first contact and never in the middle of a hold. Leaves nothing behind.
--
-- KEYS   a key that no lock has, with :q and :w
-- ARGV   channel
-- answer now
-- include clock.lua
-- include lock.lua
local key, queue, waiters = KEYS[1], KEYS[2], KEYS[3]
-- On a 32-bit server Redis packs through a C long: every record would look free.
local packed = struct and struct.pack(HEAD, FORMAT, 1, LIMIT - 1, LIMIT - 2, LIMIT - 3, LIMIT - 4)
if not packed or #packed ~= HEAD_SIZE then
  return redis.error_reply('HOLDFAST-SERVER no records can be packed here')
end
local _, queued, rev, till, since, gone = struct.unpack(HEAD, packed)
if queued ~= 1 or rev ~= LIMIT - 1 or till ~= LIMIT - 2 or since ~= LIMIT - 3 or gone ~= LIMIT - 4 then
  return redis.error_reply('HOLDFAST-SERVER numbers of 64 bits are not kept here')
end
redis.call('HSET', key, 'l', '1')
redis.call('PEXPIREAT', key, millis(now + 1000000))
redis.call('HGET', key, 'l')
redis.call('HDEL', key, 'x')
redis.call('EXISTS', key)
redis.call('HVALS', waiters)
redis.call('ZADD', queue, '1', 'x')
redis.call('ZSCORE', queue, 'x')
redis.call('ZRANGE', queue, 0, 0)
redis.call('ZCARD', queue)
redis.call('ZREM', queue, 'x')
redis.call('PUBLISH', ARGV[1] .. 'check', '')
redis.call('DEL', key)
return {text(now)}
