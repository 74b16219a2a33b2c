"""What wrong clocks must not do: forget, double, leave out, or send faster than was asked for."""

from apns_id import prefix_of
from churn_judge import count_complaints


def complaints(answers, ledger, pushes, devices, replays):
    """As in churn_judge; replays are the answers to the same requests, once more, by notification."""
    found = []
    for answer in answers:
        identity = answer["id"]
        accepted = [push for push in pushes
                    if push.status == 200 and prefix_of(push.apns_id) == prefix_of(identity)]
        found += count_complaints(answer, ledger[identity], accepted)
        if len({push.token for push in accepted}) != devices:
            found.append(f"{identity}: {len({push.token for push in accepted})} of {devices} devices have it")
        if len(accepted) != len({push.token for push in accepted}):
            found.append(f"{identity}: {len(accepted)} pushes for {devices} devices")
    for identity, (status, answer) in replays.items():
        if status != 202 or answer["id"] != identity:
            found.append(f"{identity}: the same request with its key is answered {status} {answer}")
    return found


def bursts(pushes, rate, page):
    """What came in any second may be twice the rate and some pages; None if it was not more."""
    moments, start = sorted(push.at for push in pushes), 0
    for end, moment in enumerate(moments):
        while moment - moments[start] > 1e9:
            start += 1
        if end - start + 1 > 2 * rate + 3 * page:
            return f"{end - start + 1} pushes in one second at a rate of {rate}"
    return None
