#!lua flags=allow-oom,allow-cross-slot-keys
-- Ends a claim, held or queued; touches no other claim. A lock that is free after it goes to the first living waiter.
-- With keepFor the lock stays taken, without a holder, until since + keepFor.
--
-- KEYS   the record, its queue, its waiters
-- ARGV   claim, keepFor, last giveUpAt, retention, channel
-- answer what was found ('R' it held, 'W' it waited, 'N' nothing), now, 1 if no attempt can be applied any more,
--        othersWait: packed, 1, 8, 1, 1 bytes
-- include clock.lua
local isFinal = now > tonumber(ARGV[3]) and 1 or 0
local packed = redis.call('HGET', KEYS[1], 'l')

-- Nearly always the claim holds the lock, nothing is kept, and either no claim waits or the first waiter is alive. If the
-- key also lives long enough, this does the same as the rest, at two thirds of its cost.
if packed and #packed >= HEAD_SIZE and ARGV[2] == '0' then
  local format, queued, rev, till, since, gone, at = struct.unpack(HEAD, packed)
  if format == FORMAT and till > now and string.sub(packed, at) == ARGV[1] then
    if queued == 0 then
      redis.call('HSET', KEYS[1], 'l', struct.pack(HEAD, FORMAT, 0, rev, 0, since, gone))
      return struct.pack('<c1i8BB', 'R', now, isFinal, 0)
    end
    local waiting = redis.call('ZRANGE', KEYS[2], 0, 1)
    local entry = waiting[1] and redis.call('HGET', KEYS[3], waiting[1])
    local alive, lease, holder = string.match(entry or '', '^(%d+) (%d+) (.*)$')
    -- If the holder ends with a sharded channel's tag, the rest of the script tells the waiter.
    if alive and tonumber(alive) > now and string.sub(holder, -1) ~= '}' then
      rev, till = math.max(rev + 1, now), now + lease
      if rev < LIMIT and rev + ARGV[4] <= gone and till <= gone then
        local claim, others = waiting[1], waiting[2] and 1 or 0
        redis.call('HDEL', KEYS[3], claim)
        redis.call('ZREM', KEYS[2], claim)
        packed = struct.pack(HEAD, FORMAT, others, rev, till, now, gone) .. claim
        redis.call('HSET', KEYS[1], 'l', packed, 'h', holder)
        local message = claim .. string.format(' %.0f ', rev) .. lease .. ' ' .. others
        redis.call('PUBLISH', ARGV[5] .. string.match(claim, '^(.*)%-'), message)
        return struct.pack('<c1i8BB', 'R', now, isFinal, others)
      end
    end
  end
end

-- include lock.lua
local claim, keepFor, retention, channel = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[4]), ARGV[5]
local lock, refused = load(KEYS[1], packed)
if refused then
  return refused
end
local found = 'N'
if isHeldBy(lock, claim) then
  found = 'R'
  -- After a step back of the clock the grant may lie ahead: what is not to be kept is free all the same.
  local till = keepFor > 0 and lock.since + keepFor or 0
  clear(lock, till > now and till or 0)
elseif leave(lock, claim) then
  found = 'W'
end
handOver(lock, channel)
local others = othersWait(lock)
save(lock, retention)
return struct.pack('<c1i8BB', found, now, isFinal, others)
