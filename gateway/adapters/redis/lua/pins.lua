-- How many manifests are pinned.
--
-- KEYS[1]  oncegate:{:shared}:manifests   see pin.lua
return {ARGV[1], now(), redis.call('HLEN', KEYS[1])}
