#!lua flags=allow-oom
-- Extends held claims of several locks as keep.lua does, for less than half of what that costs, where the key lives long
-- enough. Anything else is left as it is, for keep.lua to be asked.
--
-- KEYS   for each claim the record
-- ARGV   what the claims begin with; then for each claim its number, its lease: packed, 8 bytes each
-- answer 'K' now, then for each claim the revision that it holds, for the full lease from now, less than zero if others
--        may wait, or 0 if keep.lua has to be asked: packed, 1 byte, and 8 bytes each
-- include clock.lua
local client, claims = ARGV[1], ARGV[2]
local answer = {struct.pack('<c1i8', 'K', now)}
for i = 1, #KEYS do
  local held = 0
  -- What is no hash is somebody else's key, and must not keep the other locks from being renewed.
  local packed = redis.pcall('HGET', KEYS[i], 'l')
  if type(packed) == 'string' and #packed >= HEAD_SIZE then
    local format, queued, rev, till, since, gone, at = struct.unpack(HEAD, packed)
    local number, lease = struct.unpack('<i8i8', claims, 16 * i - 15)
    if format == FORMAT and till > now and now + lease <= gone then
      local claim = client .. string.format('%.0f', number)
      if string.sub(packed, at) == claim then
        redis.call('HSET', KEYS[i], 'l', struct.pack(HEAD, FORMAT, queued, rev, now + lease, since, gone) .. claim)
        held = queued == 0 and rev or -rev
      end
    end
  end
  answer[i + 1] = struct.pack('<i8', held)
end
return table.concat(answer)
