#!lua flags=allow-oom,allow-cross-slot-keys
-- Extends held claims and refreshes queued ones, of several locks. Creates nothing and revives nothing, but grants a
-- free lock to the claim if it is the first to wait.
--
-- KEYS   for each claim the record, its queue, its waiters
-- ARGV   waiter's lease, retention, channel; then for each claim: claim, lease
-- answer now, then for each claim one of
--        H revision othersWait                  holds the lock, for the full lease from now
--        Q left isFirst revision                waits
--        N                                      not there
--        U                                      the record, or the queue, cannot be read
-- include clock.lua
-- include lock.lua
local waiterLease, retention, channel = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3]

local function keep(key, claim, lease)
  local lock = load(key)
  if not lock then
    return 'U'
  end
  if isHeldBy(lock, claim) then
    setUntil(lock, now + lease)
    local others = othersWait(lock)
    save(lock, retention)
    return 'H ' .. text(lock.rev) .. ' ' .. others
  end
  local entry = redis.call('HGET', key .. ':w', claim)
  if not entry then
    return 'N'
  end
  -- The record may have been lost and made anew, and with it the word that somebody waits.
  if not lock.queued then
    lock.queued, lock.changed = true, true
  end
  local holder = string.match(entry, '^%d+ %d+ (.*)$')
  if not holder then
    return 'U'
  end
  enqueue(lock, claim, waiterLease, lease, holder)
  local head = first(lock)
  local granted = false
  if not isTaken(lock) then
    if head == claim then
      granted = grant(lock, claim, lease, holder) and leave(lock, claim)
    else
      handOver(lock, channel)
    end
  end
  local others = granted and othersWait(lock)
  save(lock, retention)
  if granted then
    return 'H ' .. text(lock.rev) .. ' ' .. others
  end
  return 'Q ' .. text(lock.till - now) .. ' ' .. (head == claim and '1' or '0') .. ' ' .. text(lock.rev)
end

-- include alone.lua
local answer = {text(now)}
for i = 1, #KEYS / 3 do
  answer[i + 1] = alone(keep, KEYS[3 * i - 2], ARGV[2 * i + 2], tonumber(ARGV[2 * i + 3]))
end
return answer
