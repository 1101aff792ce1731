-- Writes a value, unless a newer fencing token was seen for its key. The check and the write are one step.
--
-- KEYS   the value; its newest token, in the same slot
-- ARGV   token, 19 digits with leading zeros; value
-- answer now, then one of
--        W                written, and the token is the newest that was seen
--        S newest         refused: a newer one was seen; nothing is changed
--
-- The newest token is kept as '1:' (the format) and its 19 digits, without an end: it has to be there for as long as
-- somebody may come with an older one. A token has 63 bits, a Lua number only 53: so a token is compared in two halves,
-- which are exact, and never as a whole.
local clock = redis.call('TIME')
local now = string.format('%.0f', clock[1] * 1000000 + clock[2])
local token = ARGV[1]

local function isOlder(one, other)
  local high, low = tonumber(string.sub(one, 1, 10)), tonumber(string.sub(one, 11))
  local otherHigh, otherLow = tonumber(string.sub(other, 1, 10)), tonumber(string.sub(other, 11))
  return high < otherHigh or (high == otherHigh and low < otherLow)
end

local seen = redis.call('GET', KEYS[2])
if seen then
  if string.sub(seen, 1, 2) ~= '1:' or #seen ~= 21 or string.find(seen, '%D', 3) then
    return redis.error_reply('HOLDFAST the key of the token holds something else')
  end
  local newest = string.sub(seen, 3)
  if isOlder(token, newest) then
    return {now, 'S', newest}
  end
end
redis.call('SET', KEYS[2], '1:' .. token)
redis.call('SET', KEYS[1], ARGV[2])
return {now, 'W'}
