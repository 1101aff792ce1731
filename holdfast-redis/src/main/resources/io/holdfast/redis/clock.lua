-- What every script on a lock begins with: the server's clock, read once, and the form of a record (see lock.lua).
--
-- Times and revisions are microseconds. They stay below 2^53, where a Lua number is exact.
local FORMAT, HEAD, HEAD_SIZE = 2, '<BBi8i8i8i8', 34
local LIMIT = 9007199254740992

local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]
