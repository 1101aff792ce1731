-- Uses, once, every command that the other scripts use, so that a missing permission, a read-only server or a full one
-- is told at the first contact and never in the middle of a hold. Leaves nothing behind.
--
-- KEYS   a key that no lock has, with :q and :w
-- ARGV   channel
-- answer now
-- include clock.lua
-- include lock.lua
local key, queue, waiters = KEYS[1], KEYS[2], KEYS[3]
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
