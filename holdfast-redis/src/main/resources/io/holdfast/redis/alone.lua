-- Acts for one lock of several. If a key of another type is where ours should be, that lock alone is answered 'U'; any
-- other error fails the whole script.
local function alone(act, ...)
  local done, said = pcall(act, ...)
  if not done and not string.find(type(said) == 'table' and said.err or tostring(said), 'WRONGTYPE', 1, true) then
    error(said, 0)
  end
  return done and said or 'U'
end

