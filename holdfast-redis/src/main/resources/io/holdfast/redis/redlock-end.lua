#!lua flags=allow-oom
-- Ends a claim at this node up to a number, and raises the last number seen to that, claim or no claim: an attempt with
-- it that comes later is refused. With keepFor the vote stays taken, without a holder, until since + keepFor.
--
-- KEYS   the record, its waiters
-- ARGV   retention, channel, claim, number, keepFor
-- answer now, what was found (R it had the vote, N it had not), othersWait
-- include redlock.lua
local retention, claim, number, keepFor = tonumber(ARGV[1]), ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])
local lock, refused = load(KEYS[1])
if refused then
  return refused
end
local found = 'N'
if isHeldBy(lock, claim) and lock.rev <= number then
  found = 'R'
  -- After a step back of the clock the grant may lie ahead: what is not to be kept is free all the same.
  local till = keepFor > 0 and lock.since + keepFor or 0
  clear(lock, till > now and till or 0)
end
lock.last = math.max(lock.last, number)
store(lock, retention)
-- after the end: if the key of the waiters has another type, the end stands
redis.call('ZREM', KEYS[2], claim)
tell(lock, KEYS[2], ARGV[2])
return {text(now), found, othersWait(KEYS[2])}
