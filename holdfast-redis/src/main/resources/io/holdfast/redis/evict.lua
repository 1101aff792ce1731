#!lua flags=allow-oom,allow-cross-slot-keys
-- Ends the grant that somebody looked at, held or kept, and no other one; the lock goes to the first living waiter.
--
-- KEYS   the record, its queue, its waiters
-- ARGV   revision, retention, channel
-- answer now, '1' if it was ended
-- include clock.lua
-- include lock.lua
local lock, refused = load(KEYS[1])
if refused then
  return refused
end
local ended = '0'
if isTaken(lock) and text(lock.rev) == ARGV[1] then
  ended = '1'
  clear(lock, 0)
  handOver(lock, ARGV[3])
  save(lock, tonumber(ARGV[2]))
end
return {text(now), ended}
