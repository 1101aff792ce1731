-- What the scripts share; put in front of each of them. All keys of a lock carry the same hash tag:
--
--   PREFIX{name}    hash, the record: v format, r revision, c claim ('' for nobody), u until, s since, h holder,
--                   q '1' if somebody may wait
--   PREFIX{name}:q  sorted set, the queue: claim by order of arrival
--   PREFIX{name}:w  hash, the waiters: claim -> "until lease holder", the lease being the short one of a hand-over
--
-- The lock is taken while u lies ahead: held if c names a claim, kept if it does not. The lease is this field, not the
-- life of the key. The key outlives revision + retention, so that revisions grow; it never lives for ever.
--
-- Times and revisions are microseconds of the server's clock, read once per script. They stay below 2^53, where a Lua
-- number is exact, and are written by text(), because tostring() would round them. A token (revision * 256 + n) is
-- never computed here.
local LIMIT = 9007199254740992

local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]

local function text(number)
  return string.format('%.0f', number)
end

local function millis(micros)
  return text(math.floor(micros / 1000) + 1)
end

-- Reads a lock; or returns nil and the error to answer, if the key is not ours or newer than we are.
local function load(key)
  local f = redis.call('HMGET', key, 'v', 'r', 'c', 'u', 's', 'q')
  if not f[1] then
    if redis.call('EXISTS', key) == 1 then
      return nil, redis.error_reply('HOLDFAST the key is not a lock of ours')
    end
    return {key = key, rev = 0, claim = '', till = 0, since = 0, queued = false}
  end
  if f[1] ~= '1' then
    return nil, redis.error_reply('HOLDFAST the record has format ' .. f[1])
  end
  return {
    key = key,
    rev = tonumber(f[2]),
    claim = f[3],
    till = tonumber(f[4]),
    since = tonumber(f[5]),
    queued = f[6] == '1',
  }
end

local function isTaken(lock)
  return lock.till > now
end

local function isHeldBy(lock, claim)
  return lock.claim == claim and lock.till > now
end

-- The key goes when revision + retention and the lease are both over.
local function outlive(lock, retention)
  redis.call('PEXPIREAT', lock.key, millis(math.max(lock.rev + retention, lock.till)))
end

-- Gives a free lock to a claim; returns false if there are no revisions left.
local function grant(lock, claim, lease, holder, retention)
  local rev = math.max(lock.rev + 1, now)
  if rev >= LIMIT then
    return false
  end
  lock.rev, lock.claim, lock.since, lock.till = rev, claim, now, now + lease
  redis.call('HSET', lock.key, 'v', '1', 'r', text(rev), 'c', claim, 'u', text(lock.till), 's', text(now), 'h', holder)
  outlive(lock, retention)
  return true
end

local function setUntil(lock, till, retention)
  lock.till = till
  redis.call('HSET', lock.key, 'u', text(till))
  if till > lock.rev + retention then
    outlive(lock, retention)
  end
end

-- Takes the holder out; the lock is free, or kept until then.
local function clear(lock, till, retention)
  lock.claim, lock.till = '', till
  redis.call('HSET', lock.key, 'c', '', 'h', '', 'u', text(till))
  if till > lock.rev + retention then
    outlive(lock, retention)
  end
end

-- Takes a waiter out; says whether it was there.
local function leave(lock, claim)
  local found = redis.call('HDEL', lock.key .. ':w', claim)
  redis.call('ZREM', lock.key .. ':q', claim)
  return found == 1
end

-- Puts a waiter in, or refreshes it in its place.
local function enqueue(lock, claim, waiterLease, lease, holder)
  local queue, waiters = lock.key .. ':q', lock.key .. ':w'
  if not redis.call('ZSCORE', queue, claim) then
    local last = redis.call('ZRANGE', queue, -1, -1, 'WITHSCORES')[2]
    redis.call('ZADD', queue, text((tonumber(last) or 0) + 1), claim)
  end
  local short = math.min(waiterLease, lease)
  redis.call('HSET', waiters, claim, text(now + waiterLease) .. ' ' .. text(short) .. ' ' .. holder)
  local gone = millis(now + 2 * waiterLease)
  redis.call('PEXPIREAT', queue, gone)
  redis.call('PEXPIREAT', waiters, gone)
  if not lock.queued then
    lock.queued = true
    redis.call('HSET', lock.key, 'q', '1')
  end
end

-- Returns the first living waiter, its short lease and its holder; takes out the dead before it.
local function first(lock)
  if not lock.queued then
    return nil
  end
  while true do
    local claim = redis.call('ZRANGE', lock.key .. ':q', 0, 0)[1]
    if not claim then
      lock.queued = false
      redis.call('HDEL', lock.key, 'q')
      return nil
    end
    local entry = redis.call('HGET', lock.key .. ':w', claim)
    if entry then
      local till, lease, holder = string.match(entry, '^(%d+) (%d+) (.*)$')
      if tonumber(till) > now then
        return claim, tonumber(lease), holder
      end
    end
    leave(lock, claim)
  end
end

-- Says whether anybody waits, dead waiters included.
local function othersWait(lock)
  if lock.queued and redis.call('ZCARD', lock.key .. ':q') > 0 then
    return '1'
  end
  return '0'
end

-- Tells a waiter's client. In a cluster the holder has a sixth line, the tag of a channel at this node: what is published
-- there does not go to the other nodes. Where nobody hears it, or the tag's slot has left, the plain channel is taken.
local function tell(channel, holder, message)
  local tag = string.match(holder, '^[^\n]*\n[^\n]*\n[^\n]*\n[^\n]*\n[^\n]*\n({%d+})$')
  local told = tag and redis.pcall('SPUBLISH', channel .. tag, message)
  if type(told) ~= 'number' or told == 0 then
    redis.call('PUBLISH', channel, message)
  end
end

-- If the lock is free: gives it to the first living waiter for its short lease, and tells its client alone.
local function handOver(lock, channel, retention)
  if isTaken(lock) then
    return
  end
  local claim, lease, holder = first(lock)
  if claim and grant(lock, claim, lease, holder, retention) then
    leave(lock, claim)
    local client = string.match(claim, '^(.*)%-')
    local message = claim .. ' ' .. text(lock.rev) .. ' ' .. text(lease) .. ' ' .. othersWait(lock)
    tell(channel .. client, holder, message)
  end
end
