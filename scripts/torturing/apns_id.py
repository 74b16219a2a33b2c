"""The apns-ids that the provider derives from a notification and a recipient (DeliveryID)."""

RECIPIENT_BITS = 2 ** 62 - 1


def prefix_of(identity):
    """What all apns-ids of a notification begin with, of its id or of one of them."""
    identity = identity.lower()
    return identity[:14] + "8" + identity[15:18]


def apns_id(prefix, recipient):
    tail = f"{recipient & RECIPIENT_BITS | 2 ** 63:016x}"
    return f"{prefix}-{tail[:4]}-{tail[4:]}"


def recipient_of(identity):
    bits = int(identity[19:].replace("-", ""), 16) & RECIPIENT_BITS
    return bits - 2 ** 62 if bits >= 2 ** 61 else bits
