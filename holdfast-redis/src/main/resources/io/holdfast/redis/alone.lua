-- Does something with one lock of several. A key of another type where ours should be is the trouble of that lock, which
-- is answered 'U'; any other error is that of all.
local function alone(act, ...)
  local done, said = pcall(act, ...)
  if not done and not string.find(type(said) == 'table' and said.err or tostring(said), 'WRONGTYPE', 1, true) then
    error(said, 0)
  end
  return done and said or 'U'
end

