-- Asks for the lock. Idempotent for one claim: its holder is answered the same revision, and its lease begins anew.
-- Nothing is changed after giveUpAt.
--
-- KEYS   the record, its queue, its waiters
-- ARGV   claim, T(ry) or Q(ueue), giveUpAt, lease, holder, waiter's lease, retention, channel
-- answer now, then one of
--        G revision othersWait                  granted
--        B left holder isFirst revision         busy; after Q the claim waits
--        L                                      too late
local claim, mode, lease, holder = ARGV[1], ARGV[2], tonumber(ARGV[4]), ARGV[5]
local waiterLease, retention, channel = tonumber(ARGV[6]), tonumber(ARGV[7]), ARGV[8]
if now > tonumber(ARGV[3]) then
  return {text(now), 'L'}
end
local lock, refused = load(KEYS[1])
if refused then
  return refused
end
if isHeldBy(lock, claim) then
  setUntil(lock, now + lease, retention)
  return {text(now), 'G', text(lock.rev), othersWait(lock)}
end
if not isTaken(lock) then
  -- A try takes a free lock past the waiters; others take it in their turn.
  local head
  if mode == 'Q' then
    head = first(lock)
  end
  if not head or head == claim then
    if not grant(lock, claim, lease, holder, retention) then
      return redis.error_reply('HOLDFAST revisions are used up')
    end
    if head then
      leave(lock, claim)
    end
    return {text(now), 'G', text(lock.rev), othersWait(lock)}
  end
  handOver(lock, channel, retention)
end
local isFirst = '0'
if mode == 'Q' then
  enqueue(lock, claim, waiterLease, lease, holder)
  if first(lock) == claim then
    isFirst = '1'
  end
end
local who = lock.claim ~= '' and redis.call('HGET', lock.key, 'h') or ''
return {text(now), 'B', text(lock.till - now), who, isFirst, text(lock.rev)}
