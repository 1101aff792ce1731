-- Ends a claim, held or queued; touches no other claim. A lock that is free after it goes to the first living waiter.
-- With keepFor the lock stays taken, without a holder, until since + keepFor.
--
-- KEYS   the record, its queue, its waiters
-- ARGV   claim, keepFor, last giveUpAt, retention, channel
-- answer now, what was found (R it held, W it waited, N nothing), '1' if no attempt can be applied any more, othersWait
local claim, keepFor, retention, channel = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[4]), ARGV[5]
local lock, refused = load(KEYS[1])
if refused then
  return refused
end
local found = 'N'
if isHeldBy(lock, claim) then
  found = 'R'
  -- After a step back of the clock the grant may lie ahead: what is not to be kept is free all the same.
  local till = keepFor > 0 and lock.since + keepFor or 0
  clear(lock, till > now and till or 0, retention)
elseif leave(lock, claim) then
  found = 'W'
end
handOver(lock, channel, retention)
return {text(now), found, now > tonumber(ARGV[3]) and '1' or '0', othersWait(lock)}
