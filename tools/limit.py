"""Run a command with a time limit: python tools/limit.py SECONDS COMMAND...

Its exit status is the command's, or 124 when the limit was reached; then the command and all that it started is ended.
Blender's module can hang, so nothing that imports it runs without a limit.
"""

import os
import signal
import subprocess
import sys


def end(process: "subprocess.Popen[bytes]") -> None:
    if os.name == "posix":
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()


def main() -> int:
    seconds, command = float(sys.argv[1]), sys.argv[2:]
    process = subprocess.Popen(command, start_new_session=os.name == "posix")
    try:
        code = process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        end(process)
        print(f"Ended after {seconds:.0f} s, the time limit: {' '.join(command)}", file=sys.stderr)
        return 124
    except KeyboardInterrupt:
        end(process)
        return 130
    if code < 0:
        print(f"Ended by {signal.Signals(-code).name}: {' '.join(command)}", file=sys.stderr)
        return 128 - code
    return code


if __name__ == "__main__":
    sys.exit(main())
