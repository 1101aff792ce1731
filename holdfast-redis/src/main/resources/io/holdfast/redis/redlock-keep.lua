#!lua flags=allow-oom
-- Extends votes that claims have at this node, of several locks. Creates no vote and revives none; a node that may have
-- forgotten extends nothing.
--
-- KEYS   the marker; then for each claim the record, its waiters
-- ARGV   longest lease, how long to abstain, retention; then for each claim: claim, number, lease
-- answer now, then for each claim one of
--        H othersWait                           has the vote, for the full lease from now
--        N                                      has not, or no longer
--        U                                      the record, or its waiters, cannot be read
--        and at the end what this server is
-- include redlock.lua
local left, me = abstainsFor(KEYS[1], ARGV[1], tonumber(ARGV[2]))
if not left then
  return me
end
local retention = tonumber(ARGV[3])

local function keep(key, waiters, claim, number, lease)
  if left > 0 then
    return 'N'
  end
  local lock = load(key)
  if not lock then
    return 'U'
  end
  if not isHeldBy(lock, claim) or lock.rev ~= number then
    return 'N'
  end
  local others = othersWait(waiters)
  lock.till = now + lease
  store(lock, retention)
  return 'H ' .. others
end

-- include alone.lua
local answer = {text(now)}
for i = 1, (#KEYS - 1) / 2 do
  local at = 3 * i + 1
  answer[i + 1] =
    alone(keep, KEYS[2 * i], KEYS[2 * i + 1], ARGV[at], tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2]))
end
answer[#answer + 1] = me
return answer
