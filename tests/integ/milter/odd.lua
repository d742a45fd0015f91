-- Odd orders: close only, no MAIL, abort at each stage; then a usual message on the same one.
function open()
    local c = mt.connect(socket)
    if c == nil then
        error("no connection")
    end
    return c
end

mt.disconnect(open())

local c = open()
mt.conninfo(c, "client.example", "192.0.2.1")
mt.disconnect(c)

local steps = {
    function(x) mt.mailfrom(x, "<a@sender.example>") end,
    function(x) mt.rcptto(x, "<b@rcpt.example>") end,
    function(x) mt.header(x, "Subject", "hello") end,
    function(x) mt.eoh(x) end,
    function(x) mt.bodystring(x, "text\r\n") end,
}
c = open()
mt.conninfo(c, "client.example", "unspec")
mt.helo(c, "client.example")
for upto = 0, #steps do
    for i = 1, upto do
        steps[i](c)
    end
    mt.abort(c)
end
for i = 1, #steps do
    steps[i](c)
end
if mt.eom(c) ~= nil or mt.getreply(c) ~= SMFIR_CONTINUE then
    error("not accepted after aborts")
end
mt.disconnect(c)
