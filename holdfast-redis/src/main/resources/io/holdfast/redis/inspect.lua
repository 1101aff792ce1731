-- Looks at a lock; changes nothing.
--
-- KEYS   the record, its queue, its waiters
-- answer now, revision, claim, until, since, holder, number of living waiters
-- include clock.lua
-- include lock.lua
local lock, refused = load(KEYS[1])
if refused then
  return refused
end
local living = 0
for _, entry in ipairs(redis.call('HVALS', KEYS[1] .. ':w')) do
  if tonumber(string.match(entry, '^%d+')) > now then
    living = living + 1
  end
end
return {text(now), text(lock.rev), lock.claim, text(lock.till), text(lock.since), holderOf(lock), text(living)}
