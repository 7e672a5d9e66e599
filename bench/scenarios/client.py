"""One client process that makes the same HTTP call several times at once.

Takes its order as JSON on its command line, prints the answers as JSON: `[{"status": 200, "body": …}, …]`.
"""

import asyncio
import json
import sys

from bench.scenarios.burst import ask

if __name__ == "__main__":
    given = json.loads(sys.argv[1])
    print(json.dumps(asyncio.run(ask(given, given["urls"]))))
