-- What the scripts share. All keys of a lock carry the same hash tag:
--
--   PREFIX{name}    hash: l the record, h the holder, which is a former one's if nobody holds the lock
--   PREFIX{name}:q  sorted set, the queue: claim by order of arrival
--   PREFIX{name}:w  hash, the waiters: claim -> "until lease holder", the lease being the short one of a hand-over
--
-- Format 1 had a field for each part of the record, and said so in a field v.
--
-- The record is packed: format, 1 if somebody may wait, revision, until, since, gone (when the key's life ends), as
-- little-endian numbers of 1, 1, 8, 8, 8, 8 bytes; behind them the claim, '' for nobody. To write all of it costs less
-- than to write two fields as text, and every acquire and release pays for it.
--
-- The lock is taken while until lies ahead: held if there is a claim, kept if there is not. The lease is this number,
-- not the life of the key. The key outlives revision + retention, so that revisions grow; it never lives for ever.
--
-- Numbers that leave a script as text are written by text(), because tostring() would round them. A token
-- (revision * 256 + n) is never computed here.
local function text(number)
  return string.format('%.0f', number)
end

local function millis(micros)
  return text(math.floor(micros / 1000) + 1)
end

-- Reads a lock from its record, if that was read already, else from its key; or returns nil and the error to answer, if
-- the key is not ours or newer than we are.
local function load(key, record)
  local packed = record or redis.call('HGET', key, 'l')
  if not packed then
    local other = redis.call('HGET', key, 'v')
    if other then
      return nil, redis.error_reply('HOLDFAST the record has format ' .. other)
    end
    if redis.call('EXISTS', key) == 1 then
      return nil, redis.error_reply('HOLDFAST the key is not a lock of ours')
    end
    return {key = key, queued = false, rev = 0, till = 0, since = 0, gone = 0, claim = ''}
  end
  local format = string.byte(packed) or 0
  if format ~= FORMAT or #packed < HEAD_SIZE then
    return nil, redis.error_reply('HOLDFAST the record has format ' .. format)
  end
  local _, queued, rev, till, since, gone, at = struct.unpack(HEAD, packed)
  return {
    key = key,
    queued = queued == 1,
    rev = rev,
    till = till,
    since = since,
    gone = gone,
    claim = string.sub(packed, at),
  }
end

-- Writes the record, if anything of it changed; each script does so once, at its end. If the key would go before
-- revision + retention and the lease are both over, it gets a longer life, and a little more than that, so that not
-- every grant has to. A record that was never granted, or was lost, is not made.
local function save(lock, retention)
  if not lock.changed or lock.rev == 0 then
    return
  end
  local needed = math.max(lock.rev + retention, lock.till)
  local prolongs = needed > lock.gone
  if prolongs then
    lock.gone = needed + math.floor(retention / 32)
  end
  local queued = lock.queued and 1 or 0
  local head = struct.pack(HEAD, FORMAT, queued, lock.rev, lock.till, lock.since, lock.gone)
  local packed = head .. lock.claim
  if lock.holder then
    redis.call('HSET', lock.key, 'l', packed, 'h', lock.holder)
  else
    redis.call('HSET', lock.key, 'l', packed)
  end
  if prolongs then
    redis.call('PEXPIREAT', lock.key, millis(lock.gone))
  end
end

local function isTaken(lock)
  return lock.till > now
end

local function isHeldBy(lock, claim)
  return lock.claim == claim and lock.till > now
end

-- Gives a free lock to a claim; returns false if there are no revisions left.
local function grant(lock, claim, lease, holder)
  local rev = math.max(lock.rev + 1, now)
  if rev >= LIMIT then
    return false
  end
  lock.rev, lock.claim, lock.since, lock.till, lock.holder = rev, claim, now, now + lease, holder
  lock.changed = true
  return true
end

local function setUntil(lock, till)
  lock.till, lock.changed = till, true
end

-- Takes the holder out; the lock is free, or kept until then.
local function clear(lock, till)
  lock.claim, lock.till, lock.changed = '', till, true
end

-- Returns the holder; '' if nobody holds the lock.
local function holderOf(lock)
  return lock.claim == '' and '' or lock.holder or redis.call('HGET', lock.key, 'h') or ''
end

-- Takes a waiter out; says whether it was there.
local function leave(lock, claim)
  local found = redis.call('HDEL', lock.key .. ':w', claim)
  redis.call('ZREM', lock.key .. ':q', claim)
  return found == 1
end

-- Puts a waiter in, or refreshes it in its place. If a key has another type, the first write fails, and nothing is left.
local function enqueue(lock, claim, waiterLease, lease, holder)
  local queue, waiters = lock.key .. ':q', lock.key .. ':w'
  local isThere = redis.call('ZSCORE', queue, claim)
  local short = math.min(waiterLease, lease)
  redis.call('HSET', waiters, claim, text(now + waiterLease) .. ' ' .. text(short) .. ' ' .. holder)
  if not isThere then
    local last = redis.call('ZRANGE', queue, -1, -1, 'WITHSCORES')[2]
    redis.call('ZADD', queue, text((tonumber(last) or 0) + 1), claim)
  end
  local gone = millis(now + 2 * waiterLease)
  redis.call('PEXPIREAT', queue, gone)
  redis.call('PEXPIREAT', waiters, gone)
  if not lock.queued then
    lock.queued, lock.changed = true, true
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
      lock.queued, lock.changed = false, true
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

-- Says whether anybody waits, dead waiters included; the record says so no longer if nobody does. To be asked before the
-- record is saved.
local function othersWait(lock)
  if not lock.queued then
    return 0
  end
  if redis.call('ZCARD', lock.key .. ':q') > 0 then
    return 1
  end
  lock.queued, lock.changed = false, true
  return 0
end

-- Tells a waiter's client. In a cluster the holder has a sixth line, the tag of a channel at this node: what is published
-- there does not go to the other nodes. Where nobody hears it, or the tag's slot has left, the plain channel is taken. The
-- tag is of another slot than the lock: a script whose first line says what it may do must say that it may use both.
local function tell(channel, holder, message)
  local tag = string.match(holder, '^[^\n]*\n[^\n]*\n[^\n]*\n[^\n]*\n[^\n]*\n({%d+})$')
  local told = tag and redis.pcall('SPUBLISH', channel .. tag, message)
  if type(told) ~= 'number' or told == 0 then
    redis.call('PUBLISH', channel, message)
  end
end

-- If the lock is free: gives it to the first living waiter for its short lease, and tells its client alone.
local function handOver(lock, channel)
  if isTaken(lock) then
    return
  end
  local claim, lease, holder = first(lock)
  if claim and grant(lock, claim, lease, holder) then
    leave(lock, claim)
    local client = string.match(claim, '^(.*)%-')
    local message = claim .. ' ' .. text(lock.rev) .. ' ' .. text(lease) .. ' ' .. othersWait(lock)
    tell(channel .. client, holder, message)
  end
end
