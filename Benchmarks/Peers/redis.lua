#!lua name=peer

-- The searches of v1 in Redis: one call answers a request, as one request to an HTTP server does. The number of a place leads to its
-- coordinates, because redis-benchmark can vary a number, and nothing else.
local limit = 1000

local function nearest(_, arguments)
    local centre = redis.call("HMGET", "centre:" .. tonumber(arguments[1]), "lon", "lat")
    local found = redis.call(
        "GEOSEARCH", "places", "FROMLONLAT", centre[1], centre[2], "BYRADIUS", arguments[2], "m", "ASC", "COUNT", limit)
    if #found == 0 then
        return { '{"message":"No Events Found"}' }
    end
    return redis.call("MGET", unpack(found))
end

local function create(_, arguments)
    local owner = redis.call("HGET", "owners", arguments[1])
    if not owner then
        return redis.error_reply("the token is unknown")
    end
    local place = redis.call("HMGET", "centre:" .. tonumber(arguments[2]), "far_lon", "far_lat")
    local id = redis.call("INCR", "last_id")
    local key = string.format("event:%012d", id)
    redis.call("SET", key, string.format(
        '{"address":"%s","ended_at":null,"id":%d,"lat":%s,"lon":%s,"name":"%s","started_at":"%s","owner":{"id":%s}}',
        arguments[4], id, place[2], place[1], arguments[3], arguments[5], owner))
    redis.call("GEOADD", "places", place[1], place[2], key)
    return string.format('{"id":%d}', id)
end

redis.register_function { function_name = "nearest", callback = nearest, flags = { "no-writes" } }
redis.register_function("create", create)
