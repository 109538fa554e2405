-- wrk: the requests of the file REQUESTS, one a line: METHOD PATH [BODY]. Makes all of them before the run, because wrk shares the
-- machine with the server. ENCODING is the Accept-Encoding of reads. With PAUSE, each connection pauses so many milliseconds before
-- each request.
local requests, number = {}, 0
local pause = tonumber(os.getenv("PAUSE"))

init = function()
    local write = { ["content-type"] = "application/json", ["tb-device-token"] = "bench" }
    local read = { ["accept-encoding"] = os.getenv("ENCODING") }
    for line in io.lines(os.getenv("REQUESTS")) do
        local method, path, body = line:match("^(%S+) (%S+) ?(.*)")
        table.insert(requests, wrk.format(method, path, method == "GET" and read or write, body ~= "" and body or nil))
    end
    if pause then number = math.random(#requests) end
end

if pause then
    delay = function() return pause end
end

request = function()
    number = number % #requests + 1
    return requests[number]
end
