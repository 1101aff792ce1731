#!lua flags=allow-oom
-- Uses, once, every command that the other scripts use on a lock, so that a missing permission is told at the first
-- contact; sets the marker, or notices what has become of it.
--
-- KEYS   the marker; a record that no lock has, its waiters
-- ARGV   longest lease, how long to abstain, channel
-- answer now, what this server is, for how long it does not vote
-- include redlock.lua
local left, me = abstainsFor(KEYS[1], ARGV[1], tonumber(ARGV[2]))
if not left then
  return me
end
local key, waiters = KEYS[2], KEYS[3]
redis.call('HSET', key, 'v', FORMAT)
redis.call('PEXPIREAT', key, millis(now + 1000000))
redis.call('HGET', key, 'v')
redis.call('HDEL', key, 'v')
redis.call('EXISTS', key)
redis.call('ZADD', waiters, '1', 'x')
redis.call('ZCOUNT', waiters, '-inf', '+inf')
redis.call('ZRANGE', waiters, 0, 0)
redis.call('ZREM', waiters, 'x')
redis.call('ZREMRANGEBYSCORE', waiters, '-inf', '0')
redis.call('PUBLISH', ARGV[3] .. 'check', '')
redis.call('DEL', key, waiters)
return {text(now), me, text(left)}
