"""What time must and must not do to what is kept."""

DAY = 86_400


def state_complaint(identity, age, retention, status, replay):
    """Age and retention are in days; replay is the answer to the same request, made while it is to be known."""
    if age < retention:
        if status != 200:
            return f"{identity} is forgotten after {age:.1f} days: {status}"
        if replay[0] != 202 or replay[1]["id"] != identity:
            return f"{identity}: the same request with its key is answered {replay} after {age:.1f} days"
    elif age > retention + 1.5 and status != 404:
        return f"{identity} is still there after {age:.1f} days: {status}"
    return None


def run_complaints(identity, runs, begin, end):
    """Runs are the ids of notifications by moment in milliseconds; begin and end are in seconds."""
    moments, found = sorted(runs), []
    found += [f"schedule {identity}: its run of {at} is {len(ids)} notifications"
              for at, ids in runs.items() if len(ids) > 1]
    found += [f"schedule {identity}: from {first} to {second} no run" for first, second in zip(moments, moments[1:])
              if second - first != DAY * 1000]
    wanted = (end - begin) / DAY
    if abs(len(moments) - wanted) > 1.01:
        found.append(f"schedule {identity}: {len(moments)} runs in {wanted:.1f} days")
    found += [f"schedule {identity} ran at {at} and had been deleted" for at in moments if at > end * 1000]
    return found
