import PushHTTP
import PushProvider
import PushStore
import PushTypes
import PushWire

/// The schemas that several operations use.
extension Schema {
    static let bundleID = Schema.string(length: 1...255, pattern: "^[A-Za-z0-9._-]+$")

    /// A device token in hexadecimal.
    static let deviceToken = Schema.string(length: 2...1024, pattern: "^([0-9A-Fa-f]{2})+$")

    /// The badge count of a user.
    static let badgeCount = Schema.integer(0...Int64(BadgeChange.maximumCount))

    /// The value of an attribute of a device.
    static let attribute = Schema.any(of: [.string(), .number, .bool])

    /// A text of the length that most members have.
    static let text = Schema.string(length: 1...DeviceRequest.maximumText)

    /// A condition on devices.
    static let audience: Schema = {
        func comparisons(_ value: Schema) -> [(key: String, value: Schema)] {
            ["is", "atLeast", "above", "atMost", "below"].map { ($0, value) }
        }
        let version = Schema.object(required: [], optional: comparisons(.text))
        let seen = comparisons(.time) + [("withinDays", .integer(1...36_500))]
        let inner = Schema.array(of: .reference("Audience"), count: 1...200)
        let members: KeyValuePairs<String, Schema> = [
            "all": .bool, "token": .text, "user": .text, "users": .array(of: .text, count: 1...200), "tag": .text,
            "activity": .text.described("A Live Activity, by the app's id of it."), "attribute": .text,
            "in": .array(of: .attribute, count: 1...200), "locale": .text, "timeZone": .text,
            "appVersion": version, "lastSeen": .object(required: [], optional: seen), "and": inner, "or": inner,
            "not": .reference("Audience"),
            "named": .text.described("The name of a named audience, as it is when the request is accepted."),
        ]
        return Schema.object(required: [], optional: comparisons(.attribute) + members)
            .described("A condition on devices. If it has several members, all of them must hold.")
            .example(.texts(["tag": "beta"]))
            .named("Audience")
    }()

    /// The registration of a device.
    static let deviceRequest = Schema.object(
        required: [:],
        optional: [
            "token": .string(length: 43...DeviceToken.maximumLength * 4).described(
                "32 to 512 bytes in hexadecimal or base64. Required, but for the kind web."
            ), "subscription": .subscription, "vapidKey": .vapidKey,
            "environment": .environment.described("Default production."),
            "kind": .choice(of: TokenKind.self).described("Default alert, or the kind that is stored with the token."),
            "activity": .text.described("The app's id of the Live Activity, of an update token."), "user": .text.orNull,
            "locale": .text.orNull, "timeZone": .text.orNull.described("Such as Europe/Berlin."),
            "appVersion": .text.orNull,
            "installation": .text.described("With it, a changed token replaces the old one of its kind."),
            "capabilities": .array(of: .choice(DeviceCapabilities.named.keys.sorted())),
            "tags": .array(of: .text, count: 0...DeviceRequest.maximumTags).described("They replace all earlier tags."),
            "attributes": .map(of: Schema.attribute.orNull)
                .described("The attributes to set, or with null to remove."),
            "preferences": Schema.preferences.orNull, "encryptionKey": Schema.encryptionKey.orNull,
        ]
    )
    .described("A member that is absent keeps its value; null removes it.")
    .example(.texts(["token": "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff", "user": "alice"]))
    .named("DeviceRequest")

    /// A browser's subscription, as its `toJSON()` makes it.
    static let subscription: Schema = {
        let keys = Schema.object(required: ["p256dh": .string(length: 1...128), "auth": .string(length: 1...128)])
        return Schema.object(
            required: ["endpoint": .string(length: 1...WebPushSubscription.maximumEndpoint), "keys": keys],
            isOpen: true
        )
        .described("The browser's subscription, of a device of the kind web.")
        .named("Subscription")
    }()

    /// The public VAPID key of a subscription.
    static let vapidKey = Schema.string(length: 86...128)
        .described("The applicationServerKey of the subscription. Default the app's newest, or the stored one.")

    /// The categories that a person does not want, and the quiet hours.
    static let preferences: Schema = {
        let time = Schema.string(length: 5...8, pattern: "^([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?$")
        let hours = Schema.object(required: ["from": time, "to": time])
            .described("Times on the clock of each device. They differ, and may span midnight.")
        let category = Schema.string(length: 1...Preferences.maximumCategory)
        return Schema.object(optional: [
            "optOuts": .array(of: category, count: 0...Preferences.maximumOptOuts)
                .described("The consent categories that are not wanted."),
            "quietHours": hours.orNull,
        ])
        .described("Replaces all earlier preferences.")
        .named("Preferences")
    }()

    /// The public key to which content is sealed.
    static let encryptionKey = Schema.object(required: [
        "id": .string(length: 1...EncryptionKey.maximumID),
        "key": .string(length: 44...44, pattern: "^[A-Za-z0-9+/]{43}=$")
            .described("Base64 of the 32 bytes of an X25519 public key."),
    ]).named("EncryptionKey")

    /// A time in RFC 3339 or in seconds.
    static let time = Schema.any(of: [
        Schema.string(length: 1...40), Schema.integer(0...253_402_300_799_999),
    ]).described("RFC 3339, or seconds since 1970. Numbers from 10^11 on are milliseconds, which is deprecated.")

    /// One or more ranges of hours.
    static let hours: Schema = {
        let one = Schema.object(isOpen: true).described("from, to (HH:MM), days; see docs/provider.md.")
        return .any(of: [one, .array(of: one, count: 1...20)])
    }()

    /// The time of a delivery: absolute, or local to each device.
    static let deliveryTime = Schema.object(optional: [
        "at": .time, "localTime": .string(length: 1...32).described("2026-11-25T09:30, in each device's time zone."),
        "past": .choice(of: DeliveryTime.PastPolicy.self), "window": .hours, "quietHours": .hours,
        "timeZone": .text.described("device, or one zone for all."), "defaultTimeZone": .text,
    ]).named("DeliveryTime")

    /// The limits of downloads beyond which a wave waits.
    static let steering = Schema.object(optional: [
        "maximumBandwidth": Schema.integer(1...PaceSettings.maximumBandwidth).orNull
            .described("Bytes per second of the app's downloads beyond which the next wave waits."),
        "maximumDownloads": Schema.integer(1...PaceSettings.maximumDownloads).orNull
            .described("Open downloads of the app beyond which the next wave waits."),
    ]).named("Steering")

    /// The rate or the waves of a notification.
    static let pace = Schema.object(optional: [
        "rate": .integer(1...PaceSettings.maximumRate).described("Recipients per second."),
        "waves": .object(
            required: [
                "size": .integer(1...PaceSettings.maximumWave),
                "intervalSeconds": .integer(1...PaceSettings.maximumInterval),
            ],
            optional: ["steering": .steering]
        ),
    ]).named("Pace")

    /// The rule of a schedule.
    static let rule = Schema.object(
        required: ["cron": .string(length: 1...200), "timeZone": .text],
        optional: [
            "missedRuns": .choice(["skip", "runOnce", "runAll"]),
            "maximumLatenessSeconds": .integer(60...31 * 86_400),
            "maximumRuns": .integer(1...Int64(RecurringSchedule.maximumRuns)), "from": .time, "until": .time,
        ]
    )
    .example(.texts(["cron": "0 9 * * mon-fri", "timeZone": "Europe/Berlin", "missedRuns": "skip"]))
    .named("ScheduleRule")
}
