-- What the scripts of a Redlock node share. A node is a server of its own: it knows
-- nothing of the others, and no script asks more than one.
--
--   PREFIX{}:m      hash, the marker: v format, id what this server is, m the longest lease, b when it begins to vote
--   PREFIX{name}    hash, the record: v format, n the last number seen, r the number accepted, c its claim ('' for
--                   nobody), u until, s since, h holder
--   PREFIX{name}:w  sorted set, the waiters: claim by the end of its short lease
--
-- The vote of this node is taken while u lies ahead: held if c names a claim, kept if it does not. A lock is held by
-- the claim whose same number a majority of the nodes accepted; that is counted by the clients.
--
-- Times and numbers are microseconds of this server's clock, read once per script, below 2^53, and are written by
-- text().
local FORMAT = 'R1'

local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]

local function text(number)
  return string.format('%.0f', number)
end

local function millis(micros)
  return text(math.floor(micros / 1000) + 1)
end

-- Another one after each restart, and after each eviction of any key.
local function identity()
  local run = string.match(redis.call('INFO', 'server'), 'run_id:(%x+)')
  local evicted = string.match(redis.call('INFO', 'stats'), 'evicted_keys:(%d+)')
  return run .. '-' .. evicted
end

-- Returns for how long this node must not vote, because it may have forgotten something, zero if it may vote, and what
-- it is; or nil and the error to answer if the marker is not ours to use. It begins to wait when it notices, by this
-- script, that the marker is gone (never set, flushed, deleted, evicted) or is that of an earlier run (restarted, or an
-- old snapshot).
local function abstainsFor(marker, maxLease, wait)
  local f = redis.call('HMGET', marker, 'v', 'id', 'm', 'b')
  if f[1] and f[1] ~= FORMAT then
    return nil, redis.error_reply('HOLDFAST the marker has format ' .. f[1])
  end
  if f[3] and f[3] ~= maxLease then
    return nil, redis.error_reply('HOLDFAST-LEASE the node was set up with holdfast.max-lease='
      .. text(math.floor(tonumber(f[3]) / 1000)) .. 'ms')
  end
  local id = identity()
  local begins = tonumber(f[4])
  if f[2] ~= id then
    begins = now + wait
    redis.call('HSET', marker, 'v', FORMAT, 'id', id, 'm', maxLease, 'b', text(begins))
  end
  return math.max(0, begins - now), id
end

-- Reads a record; or returns nil and the error to answer, if the key is not ours or newer than we are.
local function load(key)
  local f = redis.call('HMGET', key, 'v', 'n', 'r', 'c', 'u', 's')
  if not f[1] then
    if redis.call('EXISTS', key) == 1 then
      return nil, redis.error_reply('HOLDFAST the key is not a lock of ours')
    end
    return {key = key, last = 0, rev = 0, claim = '', till = 0, since = 0}
  end
  if f[1] ~= FORMAT then
    return nil, redis.error_reply('HOLDFAST the record has format ' .. f[1])
  end
  return {
    key = key,
    last = tonumber(f[2]),
    rev = tonumber(f[3]),
    claim = f[4],
    till = tonumber(f[5]),
    since = tonumber(f[6]),
  }
end

local function isTaken(lock)
  return lock.till > now
end

local function isHeldBy(lock, claim)
  return lock.claim == claim and lock.till > now
end

-- Writes the whole record but for the holder. The key goes when its last number + retention and its lease are over.
local function store(lock, retention)
  redis.call('HSET', lock.key, 'v', FORMAT, 'n', text(lock.last), 'r', text(lock.rev), 'c', lock.claim,
    'u', text(lock.till), 's', text(lock.since))
  redis.call('PEXPIREAT', lock.key, millis(math.max(lock.last + retention, lock.till)))
end

-- Takes the claim out; the vote is free, or kept until then.
local function clear(lock, till)
  lock.claim, lock.till = '', till
  redis.call('HDEL', lock.key, 'h')
end

local function othersWait(waiters)
  return redis.call('ZCOUNT', waiters, '(' .. text(now), '+inf') > 0 and '1' or '0'
end

-- If the vote is free: tells the client of one living waiter to look, and forgets that waiter until it asks again.
local function tell(lock, waiters, channel)
  if isTaken(lock) then
    return
  end
  redis.call('ZREMRANGEBYSCORE', waiters, '-inf', text(now))
  local claim = redis.call('ZRANGE', waiters, 0, 0)[1]
  if claim then
    redis.call('ZREM', waiters, claim)
    redis.call('PUBLISH', channel .. string.match(claim, '^(.*)%-'), claim)
  end
end
