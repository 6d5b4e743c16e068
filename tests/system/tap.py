"""One line of TAP for a case, with what there is to say of one that failed before it."""


def report(number, name, good, said=""):
    for line in [] if good else said.splitlines():
        print(f"# {line}")
    print(f"{'ok' if good else 'not ok'} {number} {name}", flush=True)
