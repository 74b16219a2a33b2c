"""Values that schemas allow."""

import string
import uuid

try:
    from re import _constants as codes, _parser as parser
except ImportError:
    import sre_constants as codes
    import sre_parse as parser

WORDS = ["alpha", "beta", "Hello", "ünïcode", "数字", "a b", "x", "weather", "0", "null", "é"]
LONGEST = 3000


def given(schema):
    """The schema without null."""
    kind = schema.get("type")
    if isinstance(kind, list):
        return {**schema, "type": [one for one in kind if one != "null"], **(
            {"enum": [one for one in schema["enum"] if one is not None]} if "enum" in schema else {})}
    if "anyOf" in schema and kind is None:
        return {**schema, "anyOf": [one for one in schema["anyOf"] if one.get("type") != "null"]}
    return schema


class Values:
    """Makes values; `hint(name, place)` is what the world knows of a member, or None."""

    def __init__(self, document, rng, hint):
        self.document, self.rng, self.hint = document, rng, hint

    def make(self, schema, name="", depth=0):
        rng = self.rng
        schema = self.document.resolve(schema)
        if rng.random() < 0.9:
            value = self.hint(name, schema)
            if value is not None:
                return value
        if "anyOf" in schema and "type" not in schema:
            return self.make(rng.choice(schema["anyOf"]), name, depth)
        if "enum" in schema:
            return rng.choice(schema["enum"])
        kind = schema.get("type")
        if isinstance(kind, list):
            kind = kind[0] if rng.random() < 0.9 else rng.choice(kind)
        return getattr(self, f"{kind}_value" if kind else "any_value")(schema, name, depth)

    def null_value(self, *_):
        return None

    def boolean_value(self, *_):
        return self.rng.random() < 0.5

    def any_value(self, schema, name, depth):
        return self.rng.choice(WORDS + [1, 2.5, True])

    def number_value(self, schema, *_):
        return self.rng.choice([0, 1, 0.5, 0.25] + ([] if "maximum" in schema else [17]))

    def integer_value(self, schema, *_):
        low, high = schema.get("minimum", -10), schema.get("maximum", 10 ** 6)
        kind = self.rng.randrange(10)
        if kind == 0:
            return low
        if kind == 1:
            return high
        return self.rng.randint(low, min(high, low + self.rng.choice([3, 100, 10 ** 6])))

    def array_value(self, schema, name, depth):
        low = schema.get("minItems", 0)
        high = min(schema.get("maxItems", low + 3), low + (1 if depth > 3 else 3))
        return [self.make(schema["items"], name + "[]", depth + 1) for _ in range(self.rng.randint(low, high))]

    def object_value(self, schema, name, depth):
        properties, required = schema.get("properties", {}), schema.get("required", [])
        rest = [member for member in properties if member not in required]
        few = self.rng.choice([0, 0, 1, 1, 2, 2, 3, len(rest)] if depth < 2 else [0, 1])
        few = max(few, schema.get("minProperties", 0))
        chosen = list(required) + self.rng.sample(rest, min(few, len(rest)))
        if "anyOf" in schema:
            chosen += [name for name in self.rng.choice(schema["anyOf"])["required"] if name not in chosen]
        value = {member: self.make(properties[member], member, depth + 1) for member in chosen}
        # Some members need others, which are not null then.
        for _ in range(3):
            for needed in {**self.needed(schema, value), **self.lacking(schema, value)}:
                value[needed] = self.make(given(properties[needed]), needed, depth + 1)
        more = schema.get("additionalProperties")
        if isinstance(more, dict):
            names = schema.get("propertyNames")
            for _ in range(self.rng.randrange(3)):
                name = self.make(names, "locale") if names else self.rng.choice(["city", "plan", "score"])
                value[name] = self.make(more, "*", depth + 1)
        return value

    def needed(self, schema, value):
        """The members that are missing by the conditions of a schema."""
        return {name: None for rule in schema.get("allOf", []) if "if" in rule and self.document.fault(rule["if"], value) is None
                for name in rule["then"]["required"] if value.get(name) is None}

    def lacking(self, schema, value):
        """One of the members of which at least one has a value."""
        choices = [choice["required"][0] for choice in schema.get("anyOf", [])]
        if not choices or any(value.get(name) is not None for name in choices):
            return {}
        return {self.rng.choice(choices): None}

    def string_value(self, schema, name, depth):
        low, high = schema.get("minLength", 0), schema.get("maxLength", LONGEST)
        if schema.get("format") == "uuid":
            return str(uuid.UUID(int=self.rng.getrandbits(128), version=4))
        if schema.get("format") == "date-time":
            return "2026-11-25T09:30:00Z"
        if "pattern" in schema:
            for _ in range(50):
                text = self.matching(parser.parse(schema["pattern"]), high)
                if low <= len(text) <= high:
                    return text
        kind = self.rng.randrange(12)
        if kind == 0 and high < LONGEST:
            return "m" * high
        if kind == 1 and low:
            return "n" * low
        text = self.rng.choice(WORDS) + (str(self.rng.randrange(100)) if self.rng.random() < 0.3 else "")
        # The provider counts bytes.
        while len(text.encode()) > high:
            text = text[:-1]
        return text + "p" * (low - len(text))

    def matching(self, pattern, high):
        """A text that a regular expression matches."""
        rng, text = self.rng, ""
        for code, argument in pattern:
            if code == codes.LITERAL:
                text += chr(argument)
            elif code == codes.IN:
                text += self.of_class(argument)
            elif code in (codes.MAX_REPEAT, codes.MIN_REPEAT):
                least, most, inner = argument
                for _ in range(rng.randint(least, min(most, least + rng.choice([0, 1, 8, 40]), high))):
                    text += self.matching(inner, high)
            elif code == codes.SUBPATTERN:
                text += self.matching(argument[3], high)
            elif code == codes.BRANCH:
                text += self.matching(rng.choice(argument[1]), high)
            elif code == codes.ANY:
                text += rng.choice(string.ascii_letters)
        return text

    def of_class(self, parts):
        if parts[0][0] == codes.NEGATE:
            return "q"
        code, argument = self.rng.choice(parts)
        if code == codes.RANGE:
            return chr(self.rng.randint(*argument))
        if code == codes.CATEGORY:
            return self.rng.choice(string.digits)
        return chr(argument)
