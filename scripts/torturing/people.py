"""Devices of people, what happens to them, and what each registration says."""

ZONES = ["Pacific/Honolulu", "Europe/Berlin"]
USERS = ["anna", "bert", "cleo"]


class Person:
    """One device in the world. All tokens that it ever had are its own."""

    def __init__(self, number, rng):
        self.number, self.name, self.rng = number, f"device-{number}", rng
        # Of some the app gives no id of its installation: they are known by their token.
        self.installation = f"installation-{number}" if number % 4 else None
        self.environment = "sandbox" if number % 3 else "production"
        # Of some the token is registered in the other environment too, where it is bad; some were restored from another
        # device: their token stands at one row, their installation at another.
        self.is_in_both, self.is_split = number % 5 == 0, bool(self.installation) and number % 5 == 2
        self.user, self.zone = USERS[number % len(USERS)], ZONES[number % len(ZONES)]
        # Whether a token of it has been another's too.
        self.has_shared = False
        # Whether it came while campaigns were accepted.
        self.is_new, self.tokens = False, []
        self.change_token()
        if self.is_split:
            self.change_token()
        # When it left, and when it was back: in nanoseconds of the monotonic clock.
        self.absences, self.has_left = [], False

    @property
    def token(self):
        return self.tokens[-1]

    def change_token(self):
        self.tokens.append(f"{self.rng.getrandbits(256):064x}")

    def registration(self, **changes):
        body = {"token": self.token, "environment": self.environment, "user": self.user, "timeZone": self.zone,
                "tags": ["everybody"]}
        if self.installation:
            body["installation"] = self.installation
        return {**body, **changes}
