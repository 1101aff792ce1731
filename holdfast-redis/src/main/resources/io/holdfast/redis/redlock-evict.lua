#!lua flags=allow-oom
-- Ends the grant that somebody looked at, held or kept, and no other one, at this node; raises the last number seen to
-- it, so that no late attempt brings it back.
--
-- KEYS   the record, its waiters
-- ARGV   retention, channel, number
-- answer now, '1' if it was ended
-- include redlock.lua
local lock, refused = load(KEYS[1])
if refused then
  return refused
end
local number = tonumber(ARGV[3])
local ended = '0'
if isTaken(lock) and lock.rev == number then
  ended = '1'
  clear(lock, 0)
end
lock.last = math.max(lock.last, number)
store(lock, tonumber(ARGV[1]))
tell(lock, KEYS[2], ARGV[2])
return {text(now), ended}
