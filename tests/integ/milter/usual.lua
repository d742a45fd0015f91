-- A listed and a clean message on one connection: headers, and the forged one deleted.
conn = mt.connect(socket)
if conn == nil then
    error("no connection")
end
if mt.conninfo(conn, "client.example", "192.0.2.1") ~= nil then
    error("conninfo failed")
end
mt.helo(conn, "client.example")
for _, url in ipairs({"http://evil.example/x", "http://good.example/"}) do
    local listed = url == "http://evil.example/x"
    mt.macro(conn, SMFIC_MAIL, "i", "4Xlua")
    if mt.mailfrom(conn, "<a@sender.example>") ~= nil then
        error("mailfrom failed")
    end
    mt.rcptto(conn, "<b@rcpt.example>")
    mt.header(conn, "Subject", "hello")
    mt.header(conn, "x-gillnet-STATUS", "forged")
    if mt.eoh(conn) ~= nil then
        error("eoh failed")
    end
    mt.bodystring(conn, "see " .. url .. "\r\n")
    if mt.eom(conn) ~= nil then
        error("eom failed")
    end
    if mt.getreply(conn) ~= SMFIR_CONTINUE then
        error("not accepted")
    end
    if not mt.eom_check(conn, MT_HDRINSERT, "X-Gillnet-Status") then
        error("no status for " .. url)
    end
    if not mt.eom_check(conn, MT_HDRDELETE, "X-Gillnet-Status") then
        error("the forged field stays")
    end
    local symbols = mt.getheader(conn, "X-Gillnet-Symbols", 0)
    if listed and not string.find(symbols, "LIST_PHISH", 1, true) then
        error("not found: " .. symbols)
    end
    if not listed and symbols ~= "-" then
        error("found in a clean message: " .. symbols)
    end
end
mt.disconnect(conn)
