-- Asks this node for its vote: that it accepts a number for a claim. Idempotent: the claim's own number is accepted
-- again, and its lease begins anew; a higher one of the same claim takes its place. Nothing is changed after giveUpAt,
-- nor by a node that may have forgotten.
--
-- KEYS   the marker, the record, its waiters
-- ARGV   longest lease, how long to abstain, how far a number may be from this clock, retention,
--        claim, number, T(ry) or Q(ueue), giveUpAt, lease, holder, waiter's lease
-- answer now, then one of these, and, but for L, what this server is
--        A othersWait                           accepted
--        H claim number left holder             another claim has the vote, or it is kept; after Q ours waits
--        S last                                 a number as great was seen already
--        F                                      the number is too far from this clock
--        N left                                 does not vote: may have forgotten
--        L                                      too late
-- include redlock.lua
local maxLease, wait, reach, retention = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local claim, number, mode, lease = ARGV[5], tonumber(ARGV[6]), ARGV[7], tonumber(ARGV[9])
if now > tonumber(ARGV[8]) then
  return {text(now), 'L'}
end
local left, me = abstainsFor(KEYS[1], maxLease, wait)
if not left then
  return me
end
if left > 0 then
  return {text(now), 'N', text(left), me}
end
local lock, refused = load(KEYS[2])
if refused then
  return refused
end
local own = isHeldBy(lock, claim)
if isTaken(lock) and not own then
  if mode == 'Q' then
    redis.call('ZADD', KEYS[3], text(now + tonumber(ARGV[11])), claim)
    redis.call('PEXPIREAT', KEYS[3], millis(now + 2 * tonumber(ARGV[11])))
  end
  local who = redis.call('HGET', KEYS[2], 'h') or ''
  return {text(now), 'H', lock.claim, text(lock.rev), text(lock.till - now), who, me}
end
if math.abs(number - now) > reach then
  return {text(now), 'F', me}
end
local again = own and number == lock.rev
if not again and number <= lock.last then
  return {text(now), 'S', text(lock.last), me}
end
-- Before the vote: if the key of the waiters has another type, this fails, and no vote is stored. It writes nothing: the
-- first write has to be one that a full server refuses.
local others = othersWait(KEYS[3])
if not again then
  lock.last, lock.rev, lock.claim, lock.since = number, number, claim, now
  redis.call('HSET', KEYS[2], 'h', ARGV[10])
end
lock.till = now + lease
store(lock, retention)
if others == '1' then
  redis.call('ZREM', KEYS[3], claim)
  others = othersWait(KEYS[3])
end
return {text(now), 'A', others, me}
