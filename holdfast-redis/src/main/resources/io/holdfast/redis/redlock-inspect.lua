-- Looks at what this node has of a lock; changes nothing.
--
-- KEYS   the record, its waiters
-- answer now, number, claim, until, since, holder, number of living waiters
-- include redlock.lua
local lock, refused = load(KEYS[1])
if refused then
  return refused
end
local holder = redis.call('HGET', KEYS[1], 'h') or ''
local living = redis.call('ZCOUNT', KEYS[2], '(' .. text(now), '+inf')
return {text(now), text(lock.rev), lock.claim, text(lock.till), text(lock.since), holder, text(living)}
