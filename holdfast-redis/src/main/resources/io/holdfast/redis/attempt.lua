-- Asks for the lock. Idempotent for one claim: its holder is answered the same revision, and its lease begins anew.
-- Nothing is changed after giveUpAt.
--
-- KEYS   the record, its queue, its waiters
-- ARGV   claim, T(ry) or Q(ueue), giveUpAt, lease, holder, waiter's lease, retention, channel
-- answer one of
--        'G' now revision othersWait            granted: packed, 1, 8, 8, 1 bytes
--        {now, 'B', left, holder, isFirst, revision}
--                                               busy; after Q the claim waits
--        {now, 'L'}                             too late
-- include clock.lua
local packed = redis.call('HGET', KEYS[1], 'l')

-- Nearly always the lock is free, nobody waits, and the key lives long enough: then this does what the rest would do,
-- for a third of what that costs.
if packed and #packed >= HEAD_SIZE then
  local format, queued, rev, till, _, gone = struct.unpack(HEAD, packed)
  if format == FORMAT and queued == 0 and till <= now and now <= tonumber(ARGV[3]) then
    rev, till = math.max(rev + 1, now), now + ARGV[4]
    if rev < LIMIT and rev + ARGV[7] <= gone and till <= gone then
      packed = struct.pack(HEAD, FORMAT, 0, rev, till, now, gone) .. ARGV[1]
      redis.call('HSET', KEYS[1], 'l', packed, 'h', ARGV[5])
      return struct.pack('<c1i8i8B', 'G', now, rev, 0)
    end
  end
end

-- include lock.lua
local claim, mode, lease, holder = ARGV[1], ARGV[2], tonumber(ARGV[4]), ARGV[5]
local waiterLease, retention, channel = tonumber(ARGV[6]), tonumber(ARGV[7]), ARGV[8]
if now > tonumber(ARGV[3]) then
  return {text(now), 'L'}
end
local lock, refused = load(KEYS[1], packed)
if refused then
  return refused
end

local function granted()
  local others = othersWait(lock)
  save(lock, retention)
  return struct.pack('<c1i8i8B', 'G', now, lock.rev, others)
end

if isHeldBy(lock, claim) then
  setUntil(lock, now + lease)
  return granted()
end
if not isTaken(lock) then
  -- A try takes a free lock past the waiters; others take it in their turn.
  local head
  if mode == 'Q' then
    head = first(lock)
  end
  if not head or head == claim then
    if not grant(lock, claim, lease, holder) then
      return redis.error_reply('HOLDFAST revisions are used up')
    end
    if head then
      leave(lock, claim)
    end
    return granted()
  end
  handOver(lock, channel)
end
local isFirst = '0'
if mode == 'Q' then
  enqueue(lock, claim, waiterLease, lease, holder)
  if first(lock) == claim then
    isFirst = '1'
  end
end
save(lock, retention)
return {text(now), 'B', text(lock.till - now), holderOf(lock), isFirst, text(lock.rev)}
