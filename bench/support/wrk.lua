-- Sends in turn one request per line of a file, each line one header; "-" for no file.
local requests, count, current = {}, 0, 0
local common = {
  ["User-Agent"] = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36",
  ["Accept"] = "application/json",
  ["Accept-Encoding"] = "gzip, deflate, br",
}

local function add(name, value)
  local headers = {}
  for key, other in pairs(common) do headers[key] = other end
  if name then headers[name] = value end
  count = count + 1
  requests[count] = wrk.format("GET", wrk.path, headers)
end

function init(args)
  if args[2] then wrk.path = args[2] end
  if args[1] and args[1] ~= "-" then
    for line in io.lines(args[1]) do
      add(line:match("^([^:]+):%s*(.*)$"))
    end
  else
    add(nil, nil)
  end
end

function request()
  current = current % count + 1
  return requests[current]
end

function done(summary, latency, _)
  local errors = summary.errors
  io.write(string.format(
    '\nJSON {"requests":%d,"durationUs":%d,"p50":%.0f,"p90":%.0f,"p99":%.0f,"max":%.0f,"errors":%d,"refused":%d,"bytes":%d}\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(90), latency:percentile(99),
    latency.max, errors.connect + errors.read + errors.write + errors.timeout, errors.status, summary.bytes
  ))
end
