-- Sends the lines of the file "requests" (method, path and body, separated by tabs) in
-- turn, and prints the result as one line of JSON.
-- Arguments: the directory of the files, and the User-Agent.

local requests, last = {}, 0

function init(args)
  local dir = args[1]
  local token = assert(io.open(dir .. "/token")):read("*a")
  local headers = {["Authorization"] = "Bearer " .. token, ["User-Agent"] = args[2]}
  local with_body = {["Authorization"] = headers["Authorization"], ["User-Agent"] = args[2], ["Content-Type"] = "application/json"}
  for line in io.lines(dir .. "/requests") do
    local method, path, body = line:match("^([^\t]*)\t([^\t]*)\t(.*)$")
    if body == "" then
      requests[#requests + 1] = wrk.format(method, path, headers)
    else
      requests[#requests + 1] = wrk.format(method, path, with_body, body)
    end
  end
end

function request()
  last = last + 1
  if last > #requests then
    last = 1
  end
  return requests[last]
end

function done(summary, latency)
  local e = summary.errors
  io.write(string.format('SUMMARY {"requests":%d,"errors":%d,"detail":"status %d, connect %d, read %d, write %d, timeout %d","duration":%d,"p50":%d,"p99":%d}\n',
    summary.requests, e.connect + e.read + e.write + e.status + e.timeout,
    e.status, e.connect, e.read, e.write, e.timeout, summary.duration, latency:percentile(50), latency:percentile(99)))
end
